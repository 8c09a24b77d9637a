// n-gram counts, of words for BLEU and of characters for chrF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metric.h"

namespace attn {

/// A text split into units, which are words or characters. An n-gram is the part of the text from
/// the start of its first unit to the end of its last, so equal n-grams have equal bytes.
struct NgramUnits {
  struct Range {
    std::size_t begin, end;  ///< in bytes of `text`
  };
  std::string text;
  std::vector<Range> ranges;
};

/// Splits a text into words at spaces (metrics/unicode_text.h).
NgramUnits word_units(std::string_view text);

/// Splits a text into characters, without spaces.
NgramUnits character_units(std::string_view text);

struct NgramOverlap {
  std::uint64_t hypothesis = 0;  ///< n-grams of the hypothesis, with repetitions
  std::uint64_t reference = 0;
  std::uint64_t matching = 0;  ///< in both, each at most as often as in the reference
};

NgramOverlap count_overlap(const NgramUnits& hypothesis, const NgramUnits& reference,
                           std::size_t n);

/// Counts the n-grams of the hypothesis that occur in any reference, each at most as often as in
/// the reference that has it most often.
std::uint64_t count_matching(const NgramUnits& hypothesis, std::span<const NgramUnits> references,
                             std::size_t n);

/// Returns the number of n-grams in `units`, with repetitions.
std::size_t ngram_count(const NgramUnits& units, std::size_t n);

/// Splits a text into the words of chrF++: an ASCII punctuation character at the end of a word
/// becomes a separate word, or otherwise one at its beginning.
NgramUnits chrf_word_units(std::string_view text);

/// Throws std::invalid_argument with both counts unless there are references, and every set has as
/// many lines as there are hypotheses, at least one.
void check_same_size(std::span<const std::string> hypotheses, References references);

}  // namespace attn
