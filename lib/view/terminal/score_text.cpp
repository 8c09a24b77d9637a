#include "view/terminal/score_text.h"

#include <fmt/format.h>

#include "base/strings/utf8.h"

namespace attn {
namespace {

std::string with_interval(const SampledScore& s) {
  return fmt::format("{:.2f} ({:.2f} ± {:.2f})", s.score, s.mean, s.half_width);
}

/// The two systems side by side, as sacreBLEU's --paired-bs has them.
std::string paired_text(const PairedReport& report) {
  std::string text = fmt::format(
      "\npaired bootstrap against {}, {} samples, seed {}; mean ± 95% of them, * p below 0.05\n",
      clean_text(report.against).text, report.samples, report.seed);
  for (const PairedScore& s : report.scores) {
    text +=
        fmt::format("{:<8} {:<24} against {:<24} p {:.4f}{}\n", s.metric, with_interval(s.system),
                    with_interval(s.against), s.p_value, s.p_value < 0.05 ? " *" : "");
  }
  return text;
}

}  // namespace

std::string score_text(const ScoreReport& report) {
  const BleuReport& b = report.bleu;
  std::string text;
  const auto line = [&text](const char* name, double score, const std::string& signature) {
    text += fmt::format("{:<8}{:6.2f}  {}\n", name, score, signature);
  };
  line("BLEU", b.score, b.signature);
  line("chrF2", report.chrf.score, report.chrf.signature);
  line("chrF2++", report.chrf_words.score, report.chrf_words.signature);
  line("TER", report.ter.score, report.ter.signature);
  text += fmt::format("\nprecisions       {:.1f} {:.1f} {:.1f} {:.1f} (1- to 4-grams)\n",
                      b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3]);
  text += fmt::format("brevity penalty  {:.3f}\n", b.brevity_penalty);
  text += fmt::format("length           {} tokens, reference {}, ratio {:.3f}\n",
                      b.hypothesis_length, b.reference_length, b.length_ratio);
  text += fmt::format("sentences        {}\n", report.sentences);
  if (report.paired) text += paired_text(*report.paired);
  return text;
}

}  // namespace attn
