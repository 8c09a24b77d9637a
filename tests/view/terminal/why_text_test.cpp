// Tests receipts as text: every word's numbers add up, and lines fit the window.
#include "view/terminal/why_text.h"

#include <doctest/doctest.h>

#include <regex>

#include "base/strings/utf8.h"

namespace attn::test {
namespace {

WordReceipt sample_word() {
  WordReceipt word;
  word.word = {"Gruppe", 1, 1};
  word.logit.source = {
      {"The", 0.333F}, {"group", 5.555F}, {"went", -0.221F}, {"home", 0.456F}, {"</s>", 0.111F}};
  word.logit.prefix = {{"<pad>", 0.777F}, {"Die", 1.234F}};
  word.logit.feed_forward = 2.5F;
  word.logit.biases = -3.3F;
  word.logit.position = 0.1F;
  word.foil = {1, "▁Gruppe", "▁Team", false, {}};
  word.foil.difference.source = {{"group", 2.26F}, {"The", -0.31F}};
  word.foil.difference.feed_forward = 0.18F;
  return word;
}

/// Returns the sum of the numbers after the words of a line.
int sum_after(const std::string& text, const std::string& begin) {
  const std::size_t start = text.find(begin);
  REQUIRE_MESSAGE(start != text.npos, text);
  const std::size_t colon = text.find(':', start);
  std::string line = text.substr(colon + 1, text.find('\n', colon) - colon - 1);
  line = std::regex_replace(line, std::regex("−"), "-");
  int sum = 0;
  const std::regex number("(-?[0-9]+)(?=,|$)");
  for (auto i = std::sregex_iterator(line.begin(), line.end(), number); i != std::sregex_iterator();
       ++i) {
    sum += std::stoi((*i)[1]);
  }
  return sum;
}

/// Returns the percentage of a group.
int share_of(const std::string& text, const std::string& group) {
  std::smatch match;
  const std::string plain = std::regex_replace(text, std::regex("−"), "-");
  REQUIRE_MESSAGE(std::regex_search(plain, match, std::regex(group + " +(-?[0-9]+) %")), text);
  return std::stoi(match[1]);
}

}  // namespace

TEST_CASE("shares of a word add up to 100") {
  const WordReceipts receipts{"The group went home", "Die Gruppe ging nach Hause", {sample_word()}};
  for (const int top : {1, 2, 4, 9}) {
    const std::string text = why_text(receipts, {top, false}, {120, 0, ColorMode::none});
    const int source = share_of(text, "source"), prefix = share_of(text, "prefix");
    CHECK(source + prefix + share_of(text, "rest") == 100);
    CHECK(sum_after(text, "source") == source);
    CHECK(sum_after(text, "prefix") == prefix);
    CHECK(text.find("2.1 over Team: group 2.2") != text.npos);
  }
}

TEST_CASE("lines name fewer words where the window is narrow") {
  const WordReceipts receipts{"The group went home", "Die Gruppe ging nach Hause", {sample_word()}};
  for (const int width : {50, 60, 80}) {
    const std::string text = why_text(receipts, {4, false}, {width, 0, ColorMode::none});
    for (const std::string_view line : split_at(text, '\n')) CHECK(display_width(line) <= width);
    CHECK(share_of(text, "source") == sum_after(text, "source"));
    CHECK(text.find("…") == text.npos);
  }
}

TEST_CASE("a logit that is nearly 0 is shown in logits") {
  WordReceipt word = sample_word();
  word.logit.feed_forward -= word.logit.total();
  const std::string text = why_text({"a", "b", {word}}, {4, false}, {100, 0, ColorMode::none});
  CHECK(text.find('%') == text.npos);
  CHECK(text.find("group 5.") != text.npos);
}

TEST_CASE("text from outside is made printable") {
  WordReceipt word = sample_word();
  word.word.text = "Gr\x1b[31mu";
  word.foil.text = "\x1b]0;x";
  const std::string text = why_text({"a\x1b[2J", "b", {word}}, {4, false}, {});
  CHECK(text.find('\x1b') == text.npos);
}

}  // namespace attn::test
