// Corpus BLEU (Papineni et al., 2002), equal to sacreBLEU's (Post, 2018).
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
  std::array<double, kBleuOrder> precisions{};      ///< 0 to 100, smoothed; of 1- to 4-grams
  std::array<std::uint64_t, kBleuOrder> correct{};  ///< n-grams that a reference holds, too
  std::array<std::uint64_t, kBleuOrder> total{};    ///< n-grams of the hypotheses
  double brevity_penalty = 0;                       ///< exp(1 - reference / hypothesis), at most 1
  std::uint64_t hypothesis_length = 0;              ///< tokens; sacreBLEU's sys_len
  std::uint64_t reference_length = 0;               ///< tokens; sacreBLEU's ref_len

  /// hypothesis_length / reference_length, 0 where the references are empty.
  double length_ratio() const;
};

/// Of each sentence: its tokens, those of the reference whose length is nearest (the shorter of two
/// as near), n-grams that a reference holds, n-grams. Texts are UTF-8; std::invalid_argument unless
/// there are references, each set with as many sentences as `hypotheses`, at least one.
SentenceStatistics bleu_counts(std::span<const std::string> hypotheses, References references,
                               BleuOptions options = {});

/// The score of summed counts. Precisions without any match are smoothed as in mteval-v13a (`exp`:
/// 1/2, 1/4, … of a match). The score is 0 where an order has no n-gram at all.
BleuScore bleu_from_counts(std::span<const double> sums);

/// The score of a sample's counts, in the precision in which sacreBLEU computes it.
SampleScore bleu_from_sample(std::span<const double> sums);

/// Both in one; errors as bleu_counts().
BleuScore corpus_bleu(std::span<const std::string> hypotheses, References references,
                      BleuOptions options = {});
/// With one reference a sentence.
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, BleuOptions options = {});

/// In sacreBLEU's manner, under this program's own name and version:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-demo-0.1.0".
std::string bleu_signature(BleuOptions options = {}, const SignatureOptions& facts = {});

}  // namespace attn
