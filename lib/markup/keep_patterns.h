// The patterns of --keep: further text that must occur unchanged in a translation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "markup/placeholders.h"

namespace attn {

/// Regular expressions in ICU's syntax. They are matched by ICU, which can limit the time and the
/// memory of a match; std::regex can do neither. The library with ICU's expressions, libicui18n, is
/// loaded when the first pattern is read.
class KeepPatterns {
 public:
  /// Throws UsageError, without the field's name, if a pattern is no regular expression, and
  /// SystemError if the library cannot be loaded.
  explicit KeepPatterns(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_.empty(); }

  /// Returns the matches, in order and without overlap; where several patterns match, the one that
  /// begins first, then the longest. Throws InputError naming the pattern if a match takes too much
  /// time or memory.
  std::vector<MarkupSpan> find(std::string_view text) const;

 private:
  struct Pattern {
    std::string text;
    std::shared_ptr<void> compiled;  ///< URegularExpression
  };
  std::vector<Pattern> patterns_;
};

}  // namespace attn
