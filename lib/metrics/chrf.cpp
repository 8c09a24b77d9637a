#include "metrics/chrf.h"

#include "metrics/unicode_text.h"

namespace attn {
namespace {

/// The units of a sentence.
struct ChrfUnits {
  NgramUnits characters;
  NgramUnits words;  ///< empty without chrF++
};

ChrfUnits units_of(const std::string& sentence, const ChrfOptions& options) {
  const std::string text = options.lowercase ? lowercase(sentence) : sentence;
  ChrfUnits units;
  units.characters = character_units(text);
  if (options.words) units.words = chrf_word_units(text);
  return units;
}

void add_overlap(std::vector<double>& row, const NgramUnits& hypothesis,
                 const NgramUnits& reference, std::size_t n) {
  const NgramOverlap overlap = count_overlap(hypothesis, reference, n);
  row.push_back(overlap.reference > 0 ? static_cast<double>(overlap.hypothesis) : 0.0);
  row.push_back(static_cast<double>(overlap.reference));
  row.push_back(static_cast<double>(overlap.matching));
}

std::vector<double> overlaps(const ChrfUnits& hypothesis, const ChrfUnits& reference,
                             const ChrfOptions& options) {
  std::vector<double> row;
  for (std::size_t n = 1; n <= kChrfOrder; ++n) {
    add_overlap(row, hypothesis.characters, reference.characters, n);
  }
  for (std::size_t n = 1; options.words && n <= kChrfWordOrder; ++n) {
    add_overlap(row, hypothesis.words, reference.words, n);
  }
  return row;
}

template <typename Number>
struct PrecisionRecall {
  Number precision = 0, recall = 0;
  Number score = 0;
  bool computed = false;  ///< true unless the score is 0 because nothing matches
};

/// Computes the score from summed counts.
template <typename Number>
PrecisionRecall<Number> f_score(std::span<const double> sums) {
  constexpr Number kBetaSquared = 4;
  PrecisionRecall<Number> f;
  Number orders = 0;  // sacreBLEU's "effective order": orders in which both sides have n-grams
  for (std::size_t at = 0; at < sums.size(); at += 3) {
    const auto hypothesis = static_cast<Number>(sums[at]);
    const auto reference = static_cast<Number>(sums[at + 1]);
    const auto matching = static_cast<Number>(sums[at + 2]);
    if (hypothesis == 0 || reference == 0) continue;
    f.precision += matching / hypothesis;
    f.recall += matching / reference;
    orders += 1;
  }
  if (orders == 0) return f;
  f.precision /= orders;
  f.recall /= orders;
  if (f.precision + f.recall == 0) return f;
  f.score = (1 + kBetaSquared) * f.precision * f.recall;
  f.score /= kBetaSquared * f.precision + f.recall;
  f.score *= 100;
  f.computed = true;
  return f;
}

}  // namespace

SentenceStatistics chrf_counts(std::span<const std::string> hypotheses, References references,
                               ChrfOptions options) {
  check_same_size(hypotheses, references);
  SentenceStatistics counts{3 * (kChrfOrder + (options.words ? kChrfWordOrder : 0)), {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const ChrfUnits hypothesis = units_of(hypotheses[i], options);
    std::vector<double> best;
    double best_score = -1.0;
    for (const std::vector<std::string>& lines : references) {
      std::vector<double> row = overlaps(hypothesis, units_of(lines[i], options), options);
      const double score = f_score<double>(row).score;
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(row);
    }
    counts.numbers.insert(counts.numbers.end(), best.begin(), best.end());
  }
  return counts;
}

ChrfScore chrf_from_counts(std::span<const double> sums) {
  const PrecisionRecall<double> f = f_score<double>(sums);
  ChrfScore s{f.score, f.precision, f.recall, {}};
  for (std::size_t at = 0; at < sums.size(); at += 3) {
    s.counts.push_back({static_cast<std::uint64_t>(sums[at]),
                        static_cast<std::uint64_t>(sums[at + 1]),
                        static_cast<std::uint64_t>(sums[at + 2])});
  }
  return s;
}

SampleScore chrf_from_sample(std::span<const double> sums) {
  const PrecisionRecall<float> f = f_score<float>(sums);
  return {static_cast<double>(f.score), f.computed};
}

ChrfScore corpus_chrf(std::span<const std::string> hypotheses, References references,
                      ChrfOptions options) {
  return chrf_from_counts(chrf_counts(hypotheses, references, options).sums());
}

ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, ChrfOptions options) {
  const std::vector<std::string> one(references.begin(), references.end());
  return corpus_chrf(hypotheses, References(&one, 1), options);
}

std::string chrf_signature(ChrfOptions options, const SignatureOptions& facts) {
  return signature(facts, std::string("case:") + (options.lowercase ? "lc" : "mixed") +
                              "|eff:yes|nc:6|nw:" + (options.words ? "2" : "0") + "|space:no");
}

}  // namespace attn
