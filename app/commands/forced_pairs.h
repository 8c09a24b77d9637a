// translate --targets: the translations of a whole file are given and only scored and recorded.
#pragma once

#include <cstddef>
#include <string>

#include "files/text_files.h"

namespace attn {

/// The pairs of --input and --targets, and how many have been taken.
class ForcedPairs {
 public:
  /// Reads both files; `input` may name stdin. Throws InputError if their line counts differ.
  ForcedPairs(const std::string& input, const std::string& targets);

  const Lines& sources() const { return sources_; }
  /// Returns the next target.
  const std::string& next() { return targets_[taken_++]; }
  /// Returns where the target that was taken last is: "out.de:3".
  std::string where() const;

 private:
  std::string path_;
  Lines sources_;
  Lines targets_;
  std::size_t taken_ = 0;
};

}  // namespace attn
