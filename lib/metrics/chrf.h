// chrF2 (Popović, 2015) and chrF2++ (Popović, 2017), with the same scores as sacreBLEU.
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
  bool words = false;  ///< chrF++: counts n-grams of words, too
};

struct ChrfScore {
  double score = 0;      ///< 0 to 100: F-score in which recall has beta = 2 times the weight
  double precision = 0;  ///< 0 to 1, the mean over the orders in which both sides have n-grams
  double recall = 0;
  /// Counts for 1- to 6-grams of characters, and for chrF++ also for 1- and 2-grams of words.
  /// n-grams of a hypothesis are not counted if its reference is too short to have any.
  std::vector<NgramOverlap> counts;
};

/// Counts for each sentence and order the n-grams of the hypothesis, of the reference, and of both,
/// ignoring spaces. With several references, the one with the best sentence score is used, and the
/// first if several are equal. Texts are UTF-8. Throws std::invalid_argument unless there are
/// references, and each set has as many sentences as `hypotheses`, at least one.
SentenceStatistics chrf_counts(std::span<const std::string> hypotheses, References references,
                               ChrfOptions options = {});

/// Computes the score from summed counts.
ChrfScore chrf_from_counts(std::span<const double> sums);

/// Computes the score of a sample in the precision that sacreBLEU uses.
SampleScore chrf_from_sample(std::span<const double> sums);

/// Counts and scores in one step; throws like chrf_counts().
ChrfScore corpus_chrf(std::span<const std::string> hypotheses, References references,
                      ChrfOptions options = {});
/// Same, with one reference per sentence.
ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, ChrfOptions options = {});

/// Returns the signature "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-demo-0.2.0".
std::string chrf_signature(ChrfOptions options = {}, const SignatureOptions& facts = {});

}  // namespace attn
