#include "view/svg/why_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings/utf8.h"
#include "view/svg/picture.h"
#include "view/svg/svg_text.h"
#include "view/text_output.h"

namespace attn {
namespace {

constexpr double kBarLabel = 110;  // pixels for names, left of the bars
constexpr double kBarArea = 170;   // pixels for bars and their numbers
constexpr double kBarNumber = 44;  // pixels for a number at the end of a bar
constexpr double kBarRow = 20;
constexpr double kBarFont = 12;

/// The bars of a word: its source words, the words before it, and the rest.
std::vector<ReceiptEntry> bars_of(const ReceiptSum& sum) {
  std::vector<ReceiptEntry> bars = sum.source;
  bars.insert(bars.end(), sum.prefix.begin(), sum.prefix.end());
  bars.push_back({"rest", sum.rest()});
  return bars;
}

/// The smallest and the largest bar of all words, and 0.
struct BarRange {
  double low = 0;
  double high = 0;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Returns a value's distance from the left end of the bars, in pixels.
  double x(double value) const {
    const double span = std::max(high - low, 1e-6);
    return kBarNumber + (value - low) / span * (kBarArea - 2 * kBarNumber);
  }
};

std::string logit_text(float value) {
  return fmt::format("{}{:.1f}", value < -0.05F ? "−" : "", std::abs(value));
}

void append_bar(std::string& out, const ReceiptEntry& bar, const BarRange& range, double y) {
  const double zero = kBarLabel + range.x(0),
               end = kBarLabel + range.x(static_cast<double>(bar.value));
  append_format(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kBarLabel - 6,
                y + 14, xml_escaped(fit_text(printable(bar.text), kBarFont, kBarLabel - 6)));
  append_format(out,
                "<g class=\"best\"><rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" "
                "height=\"{}\"/></g>\n",
                bar.value < 0 ? "odd" : "end-mark", std::min(zero, end), y + 4,
                std::abs(end - zero), kBarRow - 8);
  append_format(out, "<text class=\"quiet\" x=\"{:.2f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                bar.value < 0 ? end - 4 : end + 4, y + 14, bar.value < 0 ? "end" : "start",
                logit_text(bar.value));
}

Panel panel_of(const WordReceipt& word, const BarRange& range) {
  Panel panel;
  panel.width = kBarLabel + kBarArea;
  append_format(
      panel.svg, "<text x=\"0\" y=\"14\" font-weight=\"bold\">{} {}</text>\n",
      xml_escaped(fit_text(printable(word.word.text), kBarFont, panel.width - kBarNumber)),
      logit_text(word.logit.total()));
  double y = kBarRow;
  std::size_t i = 0;
  for (const ReceiptEntry& bar : bars_of(word.logit)) {
    // A gap before the words that were written before, and one before the rest.
    const std::size_t source = word.logit.source.size();
    if (i == source || i == source + word.logit.prefix.size()) y += kBarRow / 3;
    append_bar(panel.svg, bar, range, y);
    y += kBarRow;
    ++i;
  }
  panel.height = y;
  return panel;
}

Panel legend() {
  Panel panel{"", kBarLabel + kBarArea, kBarRow};
  append_format(panel.svg, "<text class=\"quiet\" x=\"0\" y=\"14\">{}</text>\n",
                "logits: source words, words written before, the rest");
  return panel;
}

}  // namespace

std::string why_svg(const WordReceipts& receipts, const ModelSummary& model) {
  BarRange range;
  for (const WordReceipt& word : receipts.words) {
    for (const ReceiptEntry& bar : bars_of(word.logit)) {
      range.include(static_cast<double>(bar.value));
    }
  }
  std::vector<Panel> panels;
  for (const WordReceipt& word : receipts.words) panels.push_back(panel_of(word, range));
  const PictureText text{
      "Why this word",
      "Each panel is a written word with its logit; its bars are what source words, earlier words "
      "and the rest of the model added, and sum to it.",
      {printable(receipts.source_text), "→ " + printable(receipts.target_text)},
      model_line(model)};
  return framed_picture(text, "why", panels, legend());
}

}  // namespace attn
