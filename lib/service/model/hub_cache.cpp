#include "service/model/hub_cache.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

bool is_hub_word(std::string_view text) {
  return !text.empty() && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

/// Whether it is OWNER/NAME, as models are called there.
bool is_hub_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != text.npos && is_hub_word(text.substr(0, slash)) &&
         is_hub_word(text.substr(slash + 1));
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path home() {
  if (const auto own = environment("HOME"); !own.empty()) return own;
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_dir : "/";
}

/// Shells leave "~" alone in quotes, and services have none.
fs::path expanded(std::string_view path) {
  if (path == "~") return home();
  return path.starts_with("~/") ? home() / path.substr(2) : fs::path(path);
}

/// As huggingface_hub finds it.
fs::path hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto own = environment(name); !own.empty()) return expanded(own);
  }
  if (const auto own = environment("HF_HOME"); !own.empty()) return expanded(own) / "hub";
  const auto all = environment("XDG_CACHE_HOME");
  return (all.empty() ? home() / ".cache" : expanded(all)) / "huggingface" / "hub";
}

/// The commit that a branch's file names; empty where that is no name of a folder.
std::string commit_in(const fs::path& file) {
  std::string commit;
  std::ifstream(file) >> commit;
  return is_hub_word(commit) && commit.size() < 100 ? commit : "";
}

}  // namespace

std::string model_directory(const std::string& named) {
  std::error_code error;
  if (!is_hub_name(named) || fs::exists(named, error)) return named;
  std::string folder = "models--" + named;
  folder.replace(folder.find('/'), 1, "--");
  const fs::path model = hub_cache() / folder;
  const std::string commit = commit_in(model / "refs" / "main");
  std::string found = (model / "snapshots" / commit).string();
  if (!commit.empty() && directory_exists(found)) return found;
  throw SystemError(
      "{}: no such model directory, and no such model in Hugging Face's cache ({}); fetch it: hf "
      "download {}",
      named, printable(hub_cache().string()), named);
}

}  // namespace attn
