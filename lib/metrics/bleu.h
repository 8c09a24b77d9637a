// Corpus BLEU (Papineni et al., 2002), with the same scores as sacreBLEU (Post, 2018).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "metrics/bleu_tokenizer.h"
#include "metrics/metric.h"

namespace attn {

inline constexpr std::size_t kBleuOrder = 4;

struct BleuOptions {
  bool lowercase = false;
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
};

struct BleuScore {
  double score = 0;                                 ///< 0 to 100
  std::array<double, kBleuOrder> precisions{};      ///< 0 to 100, smoothed, for 1- to 4-grams
  std::array<std::uint64_t, kBleuOrder> correct{};  ///< n-grams that also occur in a reference
  std::array<std::uint64_t, kBleuOrder> total{};    ///< n-grams of the hypotheses
  double brevity_penalty = 0;                       ///< exp(1 - reference / hypothesis), at most 1
  std::uint64_t hypothesis_length = 0;              ///< in tokens; sacreBLEU's sys_len
  std::uint64_t reference_length = 0;               ///< in tokens; sacreBLEU's ref_len

  /// Returns hypothesis_length / reference_length, or 0 if the references are empty.
  double length_ratio() const;
};

/// Counts for each sentence: its tokens, the tokens of the reference with the nearest length (the
/// shorter if two are equally near), the n-grams that occur in a reference, and all n-grams. Texts
/// are UTF-8. Throws std::invalid_argument unless there are references, and each set has as many
/// sentences as `hypotheses`, at least one.
SentenceStatistics bleu_counts(std::span<const std::string> hypotheses, References references,
                               BleuOptions options = {});

/// Computes the score from summed counts. Precisions without any match are smoothed as in
/// mteval-v13a (`exp`: 1/2, 1/4, … of a match). The score is 0 if an order has no n-grams at all.
BleuScore bleu_from_counts(std::span<const double> sums);

/// Computes the score of a sample in the precision that sacreBLEU uses.
SampleScore bleu_from_sample(std::span<const double> sums);

/// Counts and scores in one step; throws like bleu_counts().
BleuScore corpus_bleu(std::span<const std::string> hypotheses, References references,
                      BleuOptions options = {});
/// Same, with one reference per sentence.
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, BleuOptions options = {});

/// Returns a signature in sacreBLEU's format with this program's name and version:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-demo-0.2.0".
std::string bleu_signature(BleuOptions options = {}, const SignatureOptions& facts = {});

}  // namespace attn
