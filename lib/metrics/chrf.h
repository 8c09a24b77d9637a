// chrF2 (Popović, 2015) and chrF2++ (Popović, 2017), equal to sacreBLEU's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "metrics/ngrams.h"

namespace attn {

inline constexpr std::size_t kChrfOrder = 6;
inline constexpr std::size_t kChrfWordOrder = 2;

struct ChrfOptions {
  bool lowercase = false;
  bool words = false;  ///< chrF++: n-grams of words, too
};

struct ChrfScore {
  double score = 0;      ///< 0 to 100: F of precision and recall, recall counting beta = 2 times
  double precision = 0;  ///< 0 to 1, the mean of the orders that both sides have n-grams of
  double recall = 0;
  /// Of 1- to 6-grams of characters, and in chrF++ of 1- and 2-grams of words. n-grams of a
  /// hypothesis whose reference is too short to have any are not counted.
  std::vector<NgramOverlap> counts;
};

/// Of each sentence and order: n-grams of the hypothesis, of the reference, and of both, spaces
/// left out. Of several references the one with the best score of its own counts, the first of
/// equals. Texts are UTF-8; std::invalid_argument unless there are references, each set with as
/// many sentences as `hypotheses`, at least one.
SentenceStatistics chrf_counts(std::span<const std::string> hypotheses, References references,
                               ChrfOptions options = {});

/// The score of summed counts.
ChrfScore chrf_from_counts(std::span<const double> sums);

/// The score of a sample's counts, in the precision in which sacreBLEU computes it.
SampleScore chrf_from_sample(std::span<const double> sums);

/// Both in one; errors as chrf_counts().
ChrfScore corpus_chrf(std::span<const std::string> hypotheses, References references,
                      ChrfOptions options = {});
/// With one reference a sentence.
ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, ChrfOptions options = {});

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-demo-0.1.0".
std::string chrf_signature(ChrfOptions options = {}, const SignatureOptions& facts = {});

}  // namespace attn
