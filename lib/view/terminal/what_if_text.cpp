#include "view/terminal/what_if_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/map_labels.h"
#include "view/text_output.h"

namespace attn {
namespace {

constexpr int kNumber = 9;
constexpr int kNumbers = 3;

/// Formats a number without its sign; one that is too wide for a column has an exponent.
std::string digits(double value) {
  constexpr double kMost = 1e5;
  return std::abs(value) < kMost ? fmt::format("{:.3f}", std::abs(value))
                                 : fmt::format("{:.1e}", std::abs(value));
}

std::string signed_number(double value) {
  const std::string text = digits(value);
  if (text == "0.000") return text;
  return (value < 0 ? "−" : "+") + text;
}

std::string plain_number(double value) {
  const std::string text = digits(value);
  return value < 0 && text != "0.000" ? "−" + text : text;
}

std::string right(const std::string& text) {
  return std::string(to_size(std::max(1, kNumber - display_width(text))), ' ') + text;
}

/// Rounds to the three printed decimals, so that the printed change is the difference of the
/// printed numbers.
double shortest_double(double value) {
  return std::isfinite(value) ? std::round(value * 1000) / 1000 : value;
}

std::string row(const std::string& label, int width, const std::vector<std::string>& numbers) {
  const std::string fitted = truncate_to_width(label, width);
  std::string line = fitted + std::string(to_size(width - display_width(fitted)), ' ');
  for (const std::string& number : numbers) line += right(number);
  return line + "\n";
}

std::string best_text(const AttentionRecord& record) {
  return record.hypotheses.empty() ? "" : printable(record.hypotheses.front().text);
}

/// Returns the word alignment, if there is one, to print below the translation.
std::string links(const AttentionRecord& record, bool with_weights) {
  if (record.hypotheses.empty() || !record.hypotheses.front().alignment) return "";
  const std::string line = pharaoh_line(*record.hypotheses.front().alignment, with_weights);
  return line.empty() ? "" : "         " + line + "\n";
}

double sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::string what_if_text(const WhatIfRecord& record, const TerminalStyle& style,
                         bool align_weights) {
  const int window = std::max(style.width, min_terminal_width);
  std::string out;
  for (const std::string& change : record.after.changes) {
    out += truncate_to_width("changed: " + printable(change), window) + "\n";
  }
  out += "before:  " + best_text(record.before) + "\n" + links(record.before, align_weights);
  out += "after:   " + best_text(record.after) + "\n" + links(record.after, align_weights) + "\n";
  if (record.before.hypotheses.empty()) return out;

  const HypothesisRecord& before = record.before.hypotheses.front();
  const std::vector<std::string> labels = token_labels(before.produced.tokens);
  int width = display_width("whole sentence");
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  width = std::min(width, window - kNumbers * kNumber);
  out += "How likely each word of the first translation is (natural logarithm):\n";
  out += row("", width, {"before", "after", "change"});
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double was = shortest_double(static_cast<double>(before.log_probs[i]));
    const double is = shortest_double(static_cast<double>(record.teacher_forced.log_probs[i]));
    out += row(labels[i], width, {plain_number(was), plain_number(is), signed_number(is - was)});
  }
  const double was = shortest_double(sum(before.log_probs));
  const double is = shortest_double(sum(record.teacher_forced.log_probs));
  out +=
      row("whole sentence", width, {plain_number(was), plain_number(is), signed_number(is - was)});
  return out;
}

}  // namespace attn
