#include "metrics/bleu.h"

#include <algorithm>
#include <cmath>

#include "metrics/ngrams.h"
#include "metrics/unicode_text.h"

namespace attn {
namespace {

/// Columns of a sentence's counts: length of the hypothesis, length of the reference, matches of
/// each order, n-grams of each order.
constexpr std::size_t kCorrect = 2, kTotal = kCorrect + kBleuOrder, kColumns = kTotal + kBleuOrder;

NgramUnits tokens_of(std::string_view sentence, const BleuOptions& options) {
  return bleu_units(options.lowercase ? lowercase(sentence) : std::string(sentence),
                    options.tokenizer);
}

/// Returns the length of the reference with the nearest length; of a tie, the shorter one.
std::size_t nearest_length(std::size_t length, std::span<const NgramUnits> references) {
  const auto distance = [&](std::size_t other) {
    return other > length ? other - length : length - other;
  };
  std::size_t nearest = references.front().ranges.size();
  for (const NgramUnits& reference : references) {
    const std::size_t other = reference.ranges.size();
    const bool nearer = distance(other) < distance(nearest);
    if (nearer || (distance(other) == distance(nearest) && other < nearest)) nearest = other;
  }
  return nearest;
}

double brevity_penalty(std::uint64_t hypothesis_length, std::uint64_t reference_length) {
  if (hypothesis_length >= reference_length) return 1.0;
  if (hypothesis_length == 0) return 0.0;
  return std::exp(1.0 -
                  static_cast<double>(reference_length) / static_cast<double>(hypothesis_length));
}

/// Returns 100 · correct / total, computed in Number instead of rounding doubles to 32 bits: GCC 12
/// drops such casts when it vectorizes.
template <typename Number>
double percent(double correct, double total) {
  return Number{100} * static_cast<Number>(correct) / static_cast<Number>(total);
}

/// Smooths zero matches to half, a quarter, … of a match, as mteval-v13a does.
template <typename Number>
double smoothed_percent(double smoothing, double total) {
  return Number{100} / (static_cast<Number>(smoothing) * static_cast<Number>(total));
}

/// Computes precisions and score from the counts; the precisions in Number's arithmetic.
template <typename Number>
void finish(BleuScore& s) {
  s.brevity_penalty = brevity_penalty(s.hypothesis_length, s.reference_length);
  if (std::all_of(s.correct.begin(), s.correct.end(), [](auto count) { return count == 0; })) {
    return;
  }
  constexpr double kLogOfZero = -9999999999.0;  // sacreBLEU's value: the score becomes exactly 0
  double smoothing = 1.0;
  double sum_of_logs = 0.0;
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    const auto total = static_cast<double>(s.total[n]);
    if (s.total[n] == 0) {
      sum_of_logs += kLogOfZero;
      continue;
    }
    if (s.correct[n] == 0) smoothing *= 2.0;
    s.precisions[n] = s.correct[n] == 0 ? smoothed_percent<Number>(smoothing, total)
                                        : percent<Number>(static_cast<double>(s.correct[n]), total);
    sum_of_logs += std::log(s.precisions[n]);
  }
  s.score = s.brevity_penalty * std::exp(sum_of_logs / kBleuOrder);
}

template <typename Number>
BleuScore bleu_score(std::span<const double> sums) {
  BleuScore s;
  s.hypothesis_length = static_cast<std::uint64_t>(sums[0]);
  s.reference_length = static_cast<std::uint64_t>(sums[1]);
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    s.correct[n] = static_cast<std::uint64_t>(sums[kCorrect + n]);
    s.total[n] = static_cast<std::uint64_t>(sums[kTotal + n]);
  }
  finish<Number>(s);
  return s;
}

}  // namespace

double BleuScore::length_ratio() const {
  if (reference_length == 0) return 0.0;
  return static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
}

SentenceStatistics bleu_counts(std::span<const std::string> hypotheses, References references,
                               BleuOptions options) {
  check_same_size(hypotheses, references);
  SentenceStatistics counts{kColumns, std::vector<double>(kColumns * hypotheses.size(), 0.0)};
  std::vector<NgramUnits> others(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const NgramUnits hypothesis = tokens_of(hypotheses[i], options);
    for (std::size_t r = 0; r < others.size(); ++r)
      others[r] = tokens_of(references[r][i], options);
    const std::span<double> row = std::span(counts.numbers).subspan(i * kColumns, kColumns);
    row[0] = static_cast<double>(hypothesis.ranges.size());
    row[1] = static_cast<double>(nearest_length(hypothesis.ranges.size(), others));
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      row[kCorrect + n] = static_cast<double>(count_matching(hypothesis, others, n + 1));
      row[kTotal + n] = static_cast<double>(ngram_count(hypothesis, n + 1));
    }
  }
  return counts;
}

BleuScore bleu_from_counts(std::span<const double> sums) {
  return bleu_score<double>(sums);
}

SampleScore bleu_from_sample(std::span<const double> sums) {
  return {bleu_score<float>(sums).score, false};  // math.exp returns a Python float
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses, References references,
                      BleuOptions options) {
  return bleu_from_counts(bleu_counts(hypotheses, references, options).sums());
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, BleuOptions options) {
  const std::vector<std::string> one(references.begin(), references.end());
  return corpus_bleu(hypotheses, References(&one, 1), options);
}

std::string bleu_signature(BleuOptions options, const SignatureOptions& facts) {
  return signature(facts, std::string("case:") + (options.lowercase ? "lc" : "mixed") +
                              "|eff:no|tok:" + std::string(bleu_tokenizer_name(options.tokenizer)) +
                              "|smooth:exp");
}

}  // namespace attn
