#include "metrics/chrf.h"

#include "metrics/unicode_text.h"

namespace attn {
namespace {

Units characters_of(const std::string& sentence, const ChrfOptions& options) {
  return character_units(options.lowercase ? lowercase(sentence) : sentence);
}

/// Fills in precision, recall and score from the counts.
void finish(ChrfScore& s) {
  constexpr double kBetaSquared = 4.0;
  int orders = 0;  // sacreBLEU's "effective order": those that both sides have n-grams of
  for (const NgramOverlap& count : s.counts) {
    if (count.hypothesis == 0 || count.reference == 0) continue;
    s.precision += static_cast<double>(count.matching) / static_cast<double>(count.hypothesis);
    s.recall += static_cast<double>(count.matching) / static_cast<double>(count.reference);
    ++orders;
  }
  if (orders == 0) return;
  s.precision /= orders;
  s.recall /= orders;
  if (s.precision + s.recall == 0.0) return;
  s.score = 100.0 * (1.0 + kBetaSquared) * s.precision * s.recall /
            (kBetaSquared * s.precision + s.recall);
}

}  // namespace

ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, ChrfOptions options) {
  check_pairs(hypotheses, references);
  ChrfScore s;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Units hypothesis = characters_of(hypotheses[i], options);
    const Units reference = characters_of(references[i], options);
    for (std::size_t n = 0; n < kChrfOrder; ++n) {
      const NgramOverlap overlap = count_overlap(hypothesis, reference, n + 1);
      if (overlap.reference > 0) s.counts[n].hypothesis += overlap.hypothesis;
      s.counts[n].reference += overlap.reference;
      s.counts[n].matching += overlap.matching;
    }
  }
  finish(s);
  return s;
}

std::string chrf_signature(ChrfOptions options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:yes|nc:6|nw:0|space:no|version:attn-demo-" ATTN_VERSION;
}

}  // namespace attn
