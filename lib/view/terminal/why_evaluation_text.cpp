#include "view/terminal/why_evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/strings/plural.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

template <typename Number>
std::string three_digits(const std::optional<Number>& value) {
  if (!value) return "–";
  const std::string number = fmt::format("{:.3f}", std::abs(*value));
  return (*value < 0 && number != "0.000" ? "−" : "") + number;
}

/// Returns milliseconds per pair.
std::string milliseconds(double seconds, std::size_t pairs) {
  return fmt::format("{:.2f}", pairs == 0 ? 0 : 1000 * seconds / static_cast<double>(pairs));
}

std::vector<std::string> notes_of(const WhyEvaluation& report) {
  std::vector<std::string> notes{
      "dropped, <unk>: without the source word that the method names, how much of the largest "
      "possible fall of log p(word) is reached; 0 is a word at random, 1 the best one each time.",
      fmt::format("ms: per sentence, besides the pass that all methods read ({} ms).",
                  milliseconds(report.pass_seconds, report.pairs))};
  if (report.has_gold) {
    notes.insert(notes.begin(),
                 "AER: alignment error rate of each word's largest entry; 0 is perfect.");
  }
  if (report.gold_skipped > 0) {
    notes.push_back(fmt::format("AER leaves out {} whose tokens give other words than the texts.",
                                counted(report.gold_skipped, "pair")));
  }
  for (const WhyMethodScore& score : report.methods) {
    if (!score.obstacle.empty()) {
      notes.push_back(fmt::format("{}: not measured: {}", score.label, score.obstacle));
    } else if (score.pairs < report.pairs) {
      notes.push_back(fmt::format("{}: on the first {} only, since it takes long.", score.label,
                                  counted(score.pairs, "pair")));
    }
  }
  return notes;
}

}  // namespace

std::string why_evaluation_text(const WhyEvaluation& report, int width) {
  Table table;
  table.title =
      fmt::format("{}, {}", counted(report.pairs, "pair"), counted(report.words, "written word"));
  table.columns = {{"method"}};
  if (report.has_gold) table.columns.push_back({"AER", true});
  table.columns.insert(table.columns.end(), {{"dropped", true}, {"<unk>", true}, {"ms", true}});
  std::vector<WhyMethodScore> methods = report.methods;
  std::ranges::stable_sort(methods, [](const WhyMethodScore& a, const WhyMethodScore& b) {
    return a.drop.faithfulness().value_or(-1e9) > b.drop.faithfulness().value_or(-1e9);
  });
  for (const WhyMethodScore& score : methods) {
    if (!score.obstacle.empty()) continue;
    std::vector<std::string>& row = table.rows.emplace_back(1, score.label);
    if (report.has_gold) row.push_back(three_digits(score.gold.error_rate()));
    row.push_back(three_digits(score.drop.faithfulness()));
    row.push_back(three_digits(score.unk.faithfulness()));
    row.push_back(milliseconds(score.seconds, score.pairs));
  }
  table.notes = notes_of(report);
  return render_tables({table}, width);
}

}  // namespace attn
