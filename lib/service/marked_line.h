// A line with markup inside, which is translated with a record of the attention: that gives the
// alignment by which the markup is put back.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/alignment.h"
#include "markup/marked_text.h"
#include "markup/placement.h"
#include "translate/line_parts.h"

namespace attn {

/// The line, and the records of its parts.
class MarkedLine {
 public:
  MarkedLine(const MarkedSegment& segment, PreparedLine line)
      : segment_(segment), line_(std::move(line)) {}

  const PreparedLine& line() const { return line_; }

  /// Adds the record of the next part.
  void add(AttentionRecord record);

  /// Returns the line's translations with markup.
  std::vector<LineTranslation> translations(const DecodeConfig& decode,
                                            const AlignmentMethod& method) const;

 private:
  std::vector<AlignedSpan> links(const LineTranslation& translation,
                                 const AlignmentMethod& method) const;
  std::size_t own_bytes(std::string_view source, std::size_t begin) const;

  const MarkedSegment& segment_;
  PreparedLine line_;
  std::vector<AttentionRecord> records_;
};

}  // namespace attn
