// The tokenizers that tests start from, and copies of them to damage.
#pragma once

#include <filesystem>
#include <string>

#include "temporary_directory.h"

namespace attn::test {

inline const std::string kSource = ATTN_SOURCE_DIR;
inline const std::string kDemo = kSource + "/data/demo/tokenizer";
inline const std::string kGolden = kSource + "/tests/golden/tokenizer/";

class DirectoryCopy : public TemporaryDirectory {
 public:
  explicit DirectoryCopy(const std::string& original) { std::filesystem::copy(original, path()); }
  void remove(const std::string& name) const { std::filesystem::remove(file(name)); }
};

}  // namespace attn::test
