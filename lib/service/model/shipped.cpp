#include "service/model/shipped.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "service/field_text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelFolder = "data/models/";

std::string& shipped_root() {
  static std::string root;
  return root;
}

std::vector<fs::path> roots() {
  std::vector<fs::path> roots;
  if (!shipped_root().empty()) roots.emplace_back(shipped_root());
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) roots.push_back(executable.parent_path().parent_path() / "share" / "attn-demo");
  roots.emplace_back(ATTN_SOURCE_DIR);
  roots.emplace_back(ATTN_DATA_DIR);
  return roots;
}

}  // namespace

void set_shipped_root(std::string directory) {
  shipped_root() = std::move(directory);
}

std::string find_shipped(const std::string& relative) {
  std::error_code error;
  for (const fs::path& root : roots()) {
    const fs::path path = root / relative;
    if (fs::exists(path, error)) return path.string();
  }
  return "";
}

std::string find_shipped_model(std::string_view name) {
  if (name.starts_with(kModelFolder)) name.remove_prefix(kModelFolder.size());
  if (name.empty() || name.front() == '.' || name.find('/') != name.npos) return "";
  std::error_code error;
  std::string directory = find_shipped(std::string(kModelFolder) += name);
  return fs::is_directory(directory, error) ? directory : "";
}

std::vector<std::string> shipped_models() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(find_shipped(std::string(kModelFolder)), error), end;
       !error && entry != end; entry.increment(error)) {
    if (fs::exists(entry->path() / "config.json", error)) {
      names.push_back(std::string(kModelFolder) += entry->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  const auto first = std::find(names.begin(), names.end(), default_model_name);
  if (first != names.end()) std::rotate(names.begin(), first, first + 1);
  return names;
}

std::string shipped(const std::string& relative) {
  if (std::string found = find_shipped(relative); !found.empty()) return found;
  throw FieldError<InputError>(FieldText(
      fmt::format("{}: not found beside the program ({}) nor in its source tree ({}); install it "
                  "again, or give ",
                  relative, roots().front().string(), ATTN_SOURCE_DIR),
      Field{"model"}, " or ", Field{"config"}));
}

}  // namespace attn
