#include "view/terminal/score_text.h"

#include <fmt/format.h>

namespace attn {

std::string score_text(const ScoreReport& report) {
  const BleuReport& b = report.bleu;
  std::string text;
  text += fmt::format("BLEU  {:6.2f}  {}\n", b.score, b.signature);
  text += fmt::format("chrF2 {:6.2f}  {}\n\n", report.chrf.score, report.chrf.signature);
  text += fmt::format("precisions       {:.1f} {:.1f} {:.1f} {:.1f} (1- to 4-grams)\n",
                      b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3]);
  text += fmt::format("brevity penalty  {:.3f}\n", b.brevity_penalty);
  text += fmt::format("length           {} tokens, reference {}, ratio {:.3f}\n",
                      b.hypothesis_length, b.reference_length, b.length_ratio);
  text += fmt::format("sentences        {}\n", report.sentences);
  return text;
}

}  // namespace attn
