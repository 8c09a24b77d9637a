// chrF2 (Popović, 2015), equal to sacreBLEU's with one reference.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "metrics/ngrams.h"

namespace attn {

inline constexpr std::size_t kChrfOrder = 6;

struct ChrfOptions {
  bool lowercase = false;
};

struct ChrfScore {
  double score = 0;      ///< 0 to 100: F of precision and recall, recall counting beta = 2 times
  double precision = 0;  ///< 0 to 1, the mean of the orders that both sides have n-grams of
  double recall = 0;
  /// Of 1- to 6-grams of characters. n-grams of a hypothesis whose reference is too short to have
  /// any are not counted.
  std::array<NgramOverlap, kChrfOrder> counts{};
};

/// Counts are summed over the corpus, spaces left out. Texts are UTF-8; std::invalid_argument
/// unless both sides have the same number of sentences, at least one.
ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, ChrfOptions options = {});

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-demo-0.1.0".
std::string chrf_signature(ChrfOptions options = {});

}  // namespace attn
