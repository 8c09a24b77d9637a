// Counting n-grams, of words for BLEU and of characters for chrF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metric.h"

namespace attn {

/// A text cut into units, words or characters. An n-gram is the part of the text from the start of
/// its first unit to the end of its last, so equal n-grams are equal bytes.
struct NgramUnits {
  struct Range {
    std::size_t begin, end;  ///< bytes of text
  };
  std::string text;
  std::vector<Range> ranges;
};

/// The words between spaces (metrics/unicode_text.h).
NgramUnits word_units(std::string_view text);

/// The characters that are no spaces.
NgramUnits character_units(std::string_view text);

struct NgramOverlap {
  std::uint64_t hypothesis = 0;  ///< n-grams of the hypothesis, repeated ones each time
  std::uint64_t reference = 0;
  std::uint64_t matching = 0;  ///< in both, each at most as often as in the reference
};

NgramOverlap count_overlap(const NgramUnits& hypothesis, const NgramUnits& reference,
                           std::size_t n);

/// n-grams of the hypothesis that any reference holds, each at most as often as in the one that has
/// it most often.
std::uint64_t count_matching(const NgramUnits& hypothesis, std::span<const NgramUnits> references,
                             std::size_t n);

/// How many n-grams `units` have, repeated ones each time.
std::size_t ngram_count(const NgramUnits& units, std::size_t n);

/// The words of chrF++: a mark of ASCII punctuation at a word's end stands alone, or else one at
/// its beginning.
NgramUnits chrf_word_units(std::string_view text);

/// std::invalid_argument with both counts unless there are references, as many lines of each as
/// hypotheses, and at least one.
void check_same_size(std::span<const std::string> hypotheses, References references);

}  // namespace attn
