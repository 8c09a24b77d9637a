// Words and punctuation of a segment's text and of its translation, and which belong together.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "markup/marked_text.h"
#include "markup/placement.h"

namespace attn {

inline constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// A word or a punctuation character of a text.
struct Unit {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool punctuation = false;
};

/// Which source unit each unit of the translation belongs to.
class UnitAlignment {
 public:
  UnitAlignment(const MarkedSegment& segment, std::string_view translation,
                std::span<const AlignedSpan> alignment);

  /// Source units are also split at each item of the segment.
  std::vector<Unit> source, target;
  std::vector<std::size_t> partners;  ///< the source unit of each target unit; kNowhere: none

  /// The first and the last target unit of a source unit; kNowhere if there is none.
  std::size_t first_of(std::size_t unit) const { return first_[unit]; }
  std::size_t last_of(std::size_t unit) const { return last_[unit]; }

  /// Returns the first source unit that ends after an offset.
  std::size_t source_at(std::size_t offset) const;

 private:
  void link_equal_units(std::string_view source_text, std::string_view target_text);
  void follow(std::span<const AlignedSpan> alignment);
  std::size_t middle_unit(const AlignedSpan& span) const;

  std::vector<std::size_t> first_, last_;
};

}  // namespace attn
