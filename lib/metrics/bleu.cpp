#include "metrics/bleu.h"

#include <algorithm>
#include <cmath>

#include "metrics/ngrams.h"
#include "metrics/tokenize_13a.h"
#include "metrics/unicode_text.h"

namespace attn {
namespace {

Units tokens_of(std::string_view sentence, const BleuOptions& options) {
  std::string lower;
  if (options.lowercase) sentence = lower = lowercase(sentence);
  sentence = strip_right(sentence);
  return options.tokenizer == BleuTokenizer::none ? word_units(sentence)
                                                  : word_units(tokenize_13a(sentence));
}

double brevity_penalty(std::uint64_t hypothesis_length, std::uint64_t reference_length) {
  if (hypothesis_length >= reference_length) return 1.0;
  if (hypothesis_length == 0) return 0.0;
  return std::exp(1.0 -
                  static_cast<double>(reference_length) / static_cast<double>(hypothesis_length));
}

/// Fills in precisions and score from the counts.
void finish(BleuScore& s) {
  s.brevity_penalty = brevity_penalty(s.hypothesis_length, s.reference_length);
  if (std::all_of(s.correct.begin(), s.correct.end(), [](auto count) { return count == 0; })) {
    return;
  }
  constexpr double kLogOfZero = -9999999999.0;  // sacreBLEU's: the score becomes exactly 0
  double smoothing = 1.0;
  double sum_of_logs = 0.0;
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    const auto total = static_cast<double>(s.total[n]);
    if (s.total[n] == 0) {
      sum_of_logs += kLogOfZero;
      continue;
    }
    if (s.correct[n] == 0) {
      smoothing *= 2.0;
      s.precisions[n] = 100.0 / (smoothing * total);
    } else {
      s.precisions[n] = 100.0 * static_cast<double>(s.correct[n]) / total;
    }
    sum_of_logs += std::log(s.precisions[n]);
  }
  s.score = s.brevity_penalty * std::exp(sum_of_logs / kBleuOrder);
}

}  // namespace

double BleuScore::length_ratio() const {
  if (reference_length == 0) return 0.0;
  return static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, BleuOptions options) {
  check_pairs(hypotheses, references);
  BleuScore s;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Units hypothesis = tokens_of(hypotheses[i], options);
    const Units reference = tokens_of(references[i], options);
    s.hypothesis_length += hypothesis.ranges.size();
    s.reference_length += reference.ranges.size();
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      const NgramOverlap overlap = count_overlap(hypothesis, reference, n + 1);
      s.correct[n] += overlap.matching;
      s.total[n] += overlap.hypothesis;
    }
  }
  finish(s);
  return s;
}

std::string bleu_signature(BleuOptions options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:no|tok:" + (options.tokenizer == BleuTokenizer::none ? "none" : "13a") +
         "|smooth:exp|version:attn-demo-" ATTN_VERSION;
}

}  // namespace attn
