#include "service/model/hub_cache.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "model/directory/weights.h"
#include "service/field_text.h"
#include "service/model/shipped.h"

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

/// True for words separated by single slashes that do not lead upwards or to the root.
bool are_hub_words(std::string_view text) {
  for (;;) {
    const std::size_t slash = text.find('/');
    if (!is_hub_word(text.substr(0, slash))) return false;
    if (slash == text.npos) return true;
    text.remove_prefix(slash + 1);
  }
}

/// OWNER/NAME@REVISION, a model's name in the hub cache.
struct HubName {
  std::string model;
  std::string revision = "main";
};

std::optional<HubName> hub_name(const std::string& text) {
  const std::size_t at = text.find('@');
  HubName name{text.substr(0, at)};
  if (at != text.npos) name.revision = text.substr(at + 1);
  const bool one_slash = std::ranges::count(name.model, '/') == 1;
  if (!one_slash || !are_hub_words(name.model) || !are_hub_words(name.revision))
    return std::nullopt;
  return name;
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

/// Expands "~" at the start of a path. Shells leave it alone in quotes, and services have no
/// shell.
fs::path expanded(std::string_view path) {
  if (path == "~") return home();
  return path.starts_with("~/") ? home() / path.substr(2) : fs::path(path);
}

/// Returns the cache's folder, found as by huggingface_hub.
fs::path hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto own = environment(name); !own.empty()) return expanded(own);
  }
  if (const auto own = environment("HF_HOME"); !own.empty()) return expanded(own) / "hub";
  const auto all = environment("XDG_CACHE_HOME");
  return (all.empty() ? home() / ".cache" : expanded(all)) / "huggingface" / "hub";
}

/// Returns the commit in a branch's file; empty if it is not a valid folder name.
std::string commit_in(const fs::path& file) {
  std::string commit;
  std::ifstream(file) >> commit;
  return is_hub_word(commit) && commit.size() < 100 ? commit : "";
}

fs::path folder_of(const HubName& name) {
  std::string folder = "models--" + name.model;
  folder.replace(folder.find('/'), 1, "--");
  return hub_cache() / folder;
}

/// Returns the snapshot of a revision, which is a name or a commit.
std::optional<std::string> snapshot_of(const fs::path& model, const std::string& revision) {
  const std::string commit = commit_in(model / "refs" / revision);
  for (const std::string& name : {commit, revision}) {
    const std::string found = (model / "snapshots" / name).string();
    if (!name.empty() && name.find('/') == name.npos && directory_exists(found)) return found;
  }
  return std::nullopt;
}

/// Returns the names of a model's cached revisions; a commit without a name is listed by itself.
std::vector<std::string> revisions_of(const fs::path& model) {
  std::vector<std::string> revisions;
  std::vector<std::string> commits;
  std::error_code error;
  const auto refs = model / "refs";
  for (fs::recursive_directory_iterator file(refs, error), end; !error && file != end;
       file.increment(error)) {
    const std::string commit = commit_in(file->path());
    if (commit.empty()) continue;
    commits.push_back(commit);
    revisions.push_back(file->path().lexically_relative(refs).string());
  }
  for (fs::directory_iterator entry(model / "snapshots", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string commit = entry->path().filename().string();
    if (std::ranges::find(commits, commit) == commits.end()) revisions.push_back(commit);
  }
  std::ranges::sort(revisions);
  return revisions;
}

/// Returns the huggingface_hub command that downloads the model.
std::string fetching(const HubName& name) {
  return fmt::format("hf download {} {} {}", name.model, option_name("revision"), name.revision);
}

/// Returns the names without their folder: "en-de".
std::vector<std::string> short_names(std::vector<std::string> paths) {
  for (std::string& path : paths) path = fs::path(path).filename().string();
  return paths;
}

}  // namespace

std::string model_directory(const std::string& named) {
  std::error_code error;
  if (fs::exists(named, error)) return named;
  if (std::string found = find_shipped_model(named); !found.empty()) return found;
  const std::optional<HubName> name = hub_name(named);
  if (!name) return named;
  const fs::path model = folder_of(*name);
  if (const auto found = snapshot_of(model, name->revision)) return *found;
  const std::vector<std::string> others = revisions_of(model);
  if (!others.empty()) {
    throw SystemError(
        "{}: no such revision in Hugging Face's cache ({}), which has {}; fetch it: {}", named,
        printable(hub_cache().string()), excerpt(fmt::format("{}", fmt::join(others, ", "))),
        fetching(*name));
  }
  throw SystemError(
      "{}: no such model directory, and no such model in Hugging Face's cache ({}); fetch it: {}",
      named, printable(hub_cache().string()),
      name->revision == "main" ? "hf download " + name->model : fetching(*name));
}

void require_model(const std::string& named, const std::string& directory) {
  std::error_code error;
  const bool word = named.find('/') == named.npos && named == directory;
  if (word && !fs::exists(named, error)) {
    const std::vector<std::string> shipped = short_names(shipped_models());
    if (shipped.empty()) return;
    throw SystemError(
        "{}: no such model directory, and no shipped model has this name (shipped: {}); check the "
        "path",
        printable(named), fmt::join(shipped, ", "));
  }
  const std::optional<HubName> name = hub_name(named);
  if (!name || named == directory || !weight_files(directory).empty()) return;
  const fs::path model = folder_of(*name);
  std::vector<std::string> others;
  for (const std::string& revision : revisions_of(model)) {
    const auto snapshot = snapshot_of(model, revision);
    if (snapshot && !weight_files(*snapshot).empty())
      others.push_back(name->model + "@" + revision);
  }
  if (others.empty()) {
    throw InputError("{}: the cache has it without weights ({}); fetch them: {}", named,
                     printable(directory), fetching(*name));
  }
  throw InputError("{}: the cache has it without weights ({}), and with weights {}", named,
                   printable(directory), excerpt(fmt::format("{}", fmt::join(others, ", "))));
}

}  // namespace attn
