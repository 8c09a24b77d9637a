// Directories that a test may fill and damage, and the models that it starts from.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace attn::test {

inline const std::string kSource = ATTN_SOURCE_DIR;
inline const std::string kDemo = kSource + "/data/demo/tokenizer";
inline const std::string kGolden = kSource + "/tests/golden/tokenizer/";

/// A new directory, removed at the end; a copy of `original` where one is given.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& original = "") {
    static std::atomic<int> count{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("attn_text_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
                .string();
    std::filesystem::create_directory(path_);
    if (!original.empty()) {
      std::filesystem::copy(original, path_, std::filesystem::copy_options::recursive);
    }
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void put(const std::string& name, std::string_view bytes) const { write_file(file(name), bytes); }
  void remove(const std::string& name) const { std::filesystem::remove(file(name)); }

 private:
  std::string path_;
};

}  // namespace attn::test
