#include "view/terminal/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/text_output.h"

namespace attn {
namespace {

/// A named number of a line, as it is printed: a percentage, or tenths of a logit.
struct Part {
  std::string text;
  float value = 0;
  long printed = 0;
};

float value_sum(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0F,
                         [](float sum, const Part& part) { return sum + part.value; });
}

/// Rounds the parts to whole numbers that add up to `total`: each is rounded down, and those with
/// the largest remainders get one more.
void round_to(std::vector<Part>& parts, float scale, long total) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0U);
  long left = total;
  for (Part& part : parts) {
    part.printed = std::lround(std::floor(part.value * scale));
    left -= part.printed;
  }
  const auto remainder = [&](std::size_t i) {
    const float exact = parts[i].value * scale;
    return exact - std::floor(exact);
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return remainder(a) > remainder(b); });
  for (std::size_t i = 0; left != 0 && !order.empty(); ++i) {
    const long one = left > 0 ? 1 : -1;
    parts[order[i % order.size()]].printed += one;
    left -= one;
  }
}

/// Returns the `top` largest entries, largest first, and the sum of the others.
std::vector<Part> largest(const std::vector<ReceiptEntry>& entries, int top) {
  std::vector<Part> parts;
  for (const ReceiptEntry& entry : entries) parts.push_back({printable(entry.text), entry.value});
  std::ranges::stable_sort(
      parts, [](const Part& a, const Part& b) { return std::abs(a.value) > std::abs(b.value); });
  const auto shown = to_size(std::max(top, 1));
  if (parts.size() > shown + 1) {
    const auto first_other = parts.begin() + to_index(shown);
    const float others = value_sum({first_other, parts.end()});
    const auto count = parts.end() - first_other;
    parts.erase(first_other, parts.end());
    parts.push_back({fmt::format("{} others", count), others});
  }
  return parts;
}

/// The three groups of a sum and their parts, rounded so that everything adds up.
struct Groups {
  std::vector<Part> groups;  ///< source, prefix, rest
  std::vector<Part> source;
  std::vector<Part> prefix;
};

Groups rounded_groups(const ReceiptSum& sum, int top, float scale) {
  Groups g;
  g.source = largest(sum.source, top);
  g.prefix = largest(sum.prefix, top);
  g.groups = {
      {"source", value_sum(g.source)}, {"prefix", value_sum(g.prefix)}, {"rest", sum.rest()}};
  round_to(g.groups, scale, std::lround(value_sum(g.groups) * scale));
  round_to(g.source, scale, g.groups[0].printed);
  round_to(g.prefix, scale, g.groups[1].printed);
  return g;
}

/// The scale and format of the numbers in a line.
struct Unit {
  float scale = 10;
  bool percent = false;

  std::string operator()(long printed) const {
    if (percent) return fmt::format("{}{}", printed < 0 ? "−" : "", std::abs(printed));
    return fmt::format("{}{}.{}", printed < 0 ? "−" : "", std::abs(printed) / 10,
                       std::abs(printed) % 10);
  }
  std::string total(long printed) const { return (*this)(printed) + (percent ? " %" : ""); }
};

constexpr Unit kLogits{10, false};

/// Returns the unit of a word's line: percentages of its logit unless that is nearly 0.
Unit unit_of(float logit) {
  constexpr float kLeast = 0.1F;
  return std::abs(logit) < kLeast ? kLogits : Unit{100 / std::abs(logit), true};
}

std::string listed(const std::vector<Part>& parts, const Unit& unit) {
  std::string out;
  for (const Part& part : parts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", part.text, unit(part.printed));
  }
  return out;
}

/// Returns a token without its word-boundary character.
std::string readable_token(const std::string& token) {
  constexpr std::string_view mark = "▁";
  return printable(token.starts_with(mark) && token.size() > mark.size() ? token.substr(mark.size())
                                                                         : token);
}

/// Returns "3.0 over Haus: rest 3.1, home −0.4, 9 others 0.3": what decided against the foil. Names
/// the token that was written if it is not clear from the word.
std::string against(const WordReceipt& word, int top) {
  const ReceiptFoil& foil = word.foil;
  const ReceiptSum& sum = foil.difference;
  std::vector<ReceiptEntry> entries = sum.source;
  entries.insert(entries.end(), sum.prefix.begin(), sum.prefix.end());
  entries.push_back({"rest", sum.rest()});
  std::vector<Part> parts = largest(entries, top);
  const long total = std::lround(value_sum(parts) * kLogits.scale);
  round_to(parts, kLogits.scale, total);
  const std::string at_token =
      foil.step == word.word.first && word.word.count == 1 ? "" : readable_token(foil.word) + " ";
  return fmt::format("{}{} over {}: {}", at_token, kLogits(total), readable_token(foil.text),
                     listed(parts, kLogits));
}

/// Cuts a line to the window.
std::string fit(const std::string& line, const TerminalStyle& style) {
  return truncate_to_width(line, std::max(style.width, min_terminal_width)) + "\n";
}

/// Returns line(top) for the largest number of named words, up to `top`, whose line fits.
template <typename Line>
std::string fit_names(Line&& line, int top, const TerminalStyle& style) {
  const int window = std::max(style.width, min_terminal_width);
  int named = top;
  while (named > 1 && display_width(line(named)) > window) --named;
  return fit(line(named), style);
}

std::string padded(const std::string& text, int width) {
  return text + std::string(to_size(std::max(0, width - display_width(text))), ' ');
}

/// Returns the line of the rest, with what decided against the foil; in a narrow window the latter
/// has a line of its own.
std::string foil_line(const std::string& rest, const WordReceipt& word,
                      const WhyTextOptions& options, const TerminalStyle& style) {
  const bool fits =
      display_width(rest + "; " + against(word, 1)) <= std::max(style.width, min_terminal_width);
  const std::string begin = fits ? rest + "; " : "  ";
  return (fits ? "" : fit(rest, style)) +
         fit_names([&](int top) { return begin + against(word, top); }, options.top, style);
}

std::string three_lines(const WordReceipt& word, int width, const WhyTextOptions& options,
                        const TerminalStyle& style) {
  const float logit = word.logit.total();
  const Unit unit = unit_of(logit);
  const std::string begin = padded(printable(word.word.text), width) +
                            fmt::format(" {:>5}  ", kLogits(std::lround(logit * kLogits.scale)));
  const std::string indent(to_size(display_width(begin)), ' ');
  const auto group = [&](const Groups& g, std::size_t i) {
    const Part& part = g.groups[i];
    return padded(part.text, 6) + fmt::format(" {:>6}", unit.total(part.printed));
  };
  const auto line = [&](const std::string& before, std::size_t i,
                        std::vector<Part> Groups::*parts) {
    const auto with = [&](int top) {
      const Groups g = rounded_groups(word.logit, top, unit.scale);
      return before + group(g, i) + ": " + listed(g.*parts, unit);
    };
    return fit_names(with, options.top, style);
  };
  return line(begin, 0, &Groups::source) + line(indent, 1, &Groups::prefix) +
         foil_line(indent + group(rounded_groups(word.logit, options.top, unit.scale), 2), word,
                   options, style);
}

std::string one_line(const WordReceipt& word, int width, const WhyTextOptions& options,
                     const TerminalStyle& style) {
  const Unit unit = unit_of(word.logit.total());
  const auto line = [&](int top) {
    const Groups g = rounded_groups(word.logit, top, unit.scale);
    return padded(printable(word.word.text), width) + " ← " + listed(g.source, unit) +
           fmt::format("; prefix {}, rest {}", unit(g.groups[1].printed),
                       unit.total(g.groups[2].printed)) +
           "; not " + readable_token(word.foil.text);
  };
  return fit_names(line, std::min(options.top, 2), style);
}

/// Returns "dropped: group −5.2, The −0.3": the falls of the log-probability, largest first.
std::string falls_line(const WordReceipt& word, const char* name, float OcclusionEntry::*fall,
                       int top) {
  std::vector<ReceiptEntry> entries;
  for (const OcclusionEntry& entry : word.occlusion) entries.push_back({entry.text, entry.*fall});
  std::ranges::stable_sort(entries, [](const ReceiptEntry& a, const ReceiptEntry& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  entries.resize(std::min(entries.size(), to_size(std::max(top, 1))));
  std::string out;
  for (const ReceiptEntry& entry : entries) {
    const long tenths = std::lround(-entry.value * kLogits.scale);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", printable(entry.text), kLogits(tenths));
  }
  return name + out;
}

std::string occlusion_lines(const WordReceipt& word, int width, int top,
                            const TerminalStyle& style) {
  const std::string indent(to_size(width) + 8, ' ');
  const auto line = [&](const char* name, float OcclusionEntry::*fall) {
    return fit_names([&](int named) { return indent + falls_line(word, name, fall, named); }, top,
                     style);
  };
  return line("log p if dropped: ", &OcclusionEntry::drop) +
         line("log p as <unk>:   ", &OcclusionEntry::unk);
}

}  // namespace

std::string why_text(const WordReceipts& receipts, const WhyTextOptions& options,
                     const TerminalStyle& style) {
  std::string out =
      fit(printable(receipts.source_text) + " → " + printable(receipts.target_text), style);
  int width = 0;
  for (const WordReceipt& word : receipts.words) {
    width = std::max(width, display_width(printable(word.word.text)));
  }
  constexpr int kWidest = 16;
  width = std::min(width, kWidest);
  for (const WordReceipt& word : receipts.words) {
    out += options.brief ? one_line(word, width, options, style)
                         : three_lines(word, width, options, style);
    if (!word.occlusion.empty()) out += occlusion_lines(word, width, options.top, style);
  }
  for (std::size_t k = 0; k < receipts.decoder_lens.size(); ++k) {
    out += fit(fmt::format("after {} encoder layer{}: {}", k, k == 1 ? "" : "s",
                           printable(receipts.decoder_lens[k])),
               style);
  }
  return out;
}

}  // namespace attn
