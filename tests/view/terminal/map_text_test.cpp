// Maps on a terminal: the words, the shape, the folding, and what never reaches the terminal.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <sstream>

#include "analysis/shown_maps.h"
#include "base/utf8.h"
#include "view/sample_record.h"
#include "view/terminal/map_text.h"

namespace attn {
namespace {

using test::demo_record;
using test::hostile_record;
using test::long_record;
using test::sample_maps;

std::string rendered(const AttentionRecord& record, const std::vector<std::string>& show, int width,
                     ColorMode color = ColorMode::none) {
  return render_maps(record, 0, choose_maps(record, 0, parse_show(show)), {width, color});
}

std::vector<std::string> map_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_colors(const std::string& text) {
  static const std::regex color("\x1b\\[[0-9;]*m");
  return std::regex_replace(text, color, "");
}

std::string without_shades(std::string text) {
  static const std::regex shade("░|▒|▓|█");
  static const std::regex trailing(" +\n");
  return std::regex_replace(std::regex_replace(text, shade, " "), trailing, "\n");
}

std::ptrdiff_t count_of(const std::string& text, const std::string& form) {
  const std::regex regex(form);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex),
                       std::sregex_iterator());
}

/// A demo record whose last cross map holds these round weights.
AttentionRecord known_record() {
  AttentionRecord record = demo_record();
  const float weights[] = {1.0f, 0.0f,  0.0f,   0.0f, 0.0f,   0.05f, 0.9f, 0.03f, 0.02f,  0.0f,
                           0.1f, 0.2f,  0.4f,   0.2f, 0.1f,   0.2f,  0.2f, 0.2f,  0.2f,   0.2f,
                           0.0f, 0.25f, 0.004f, 0.5f, 0.246f, 0.0f,  0.0f, 0.0f,  0.004f, 0.996f};
  std::copy(std::begin(weights), std::end(weights), record.hypotheses[0].cross.map(1, 1).begin());
  return record;
}

TEST_CASE("terminal: a cross map, word for word") {
  CHECK(rendered(known_record(), {"cross:1:1"}, 80) ==
        "Each step (row: reads → writes) looks at the source words (columns).\n"
        "cross-attention · layer 1 of 0–1 · head 1 of 0–1\n"
        "reads  → writes   The group  went  home  </s>\n"
        "<pad>  → Die     1.00█ 0.00  0.00  0.00  0.00\n"
        "Die    → Gruppe  0.05░ 0.90█ 0.03  0.02  0.00\n"
        "Gruppe → ging    0.10░ 0.20░ 0.40▒ 0.20░ 0.10░\n"
        "ging   → nach    0.20░ 0.20░ 0.20░ 0.20░ 0.20░\n"
        "nach   → Hause   0.00  0.25▒ 0.00  0.50▓ 0.25▒\n"
        "Hause  → </s>    0.00  0.00  0.00  0.00  1.00█\n");
}

TEST_CASE("terminal: a wide map is folded, with the row labels repeated") {
  CHECK(rendered(known_record(), {"cross:1:1"}, 40) ==
        "Each step (row: reads → writes) looks at\n"
        "the source words (columns).\n"
        "cross-attention · layer 1 · head 1\n"
        "reads  → writes   The group  went\n"
        "<pad>  → Die     1.00█ 0.00  0.00\n"
        "Die    → Gruppe  0.05░ 0.90█ 0.03\n"
        "Gruppe → ging    0.10░ 0.20░ 0.40▒\n"
        "ging   → nach    0.20░ 0.20░ 0.20░\n"
        "nach   → Hause   0.00  0.25▒ 0.00\n"
        "Hause  → </s>    0.00  0.00  0.00\n"
        "… continued (part 2 of 2)\n"
        "reads  → writes  home  </s>\n"
        "<pad>  → Die     0.00  0.00\n"
        "Die    → Gruppe  0.02  0.00\n"
        "Gruppe → ging    0.20░ 0.10░\n"
        "ging   → nach    0.20░ 0.20░\n"
        "nach   → Hause   0.50▓ 0.25▒\n"
        "Hause  → </s>    0.00  1.00█\n");
}

TEST_CASE("terminal: masked cells are dots, and a weight of 0 is a number") {
  AttentionRecord record = demo_record();
  const std::vector<float> weights = {1, 0, 0, 0.5f, 0.5f, 0, 0, 1, 0};
  record.hypotheses[0].decoder_self = {1, 1, 3, 3, weights};
  const std::string text = rendered(record, {"decoder"}, 80);
  CHECK(text ==
        "Each step (row: reads → writes) looks at the words read so far. · is masked.\n"
        "decoder self-attention · layer 0 (only one) · head 0 (only one)\n"
        "reads  → writes  <pad>    Die Gruppe\n"
        "<pad>  → Die      1.00█   ·      ·\n"
        "Die    → Gruppe   0.50▓  0.50▓   ·\n"
        "Gruppe → ging     0.00   1.00█  0.00\n");
  SUBCASE("an experiment that lets the future in is shown") {
    record.hypotheses[0].decoder_self.weights[1] = 0.25f;
    CHECK(rendered(record, {"decoder"}, 80).find("1.00█  0.25▒   ·\n") != std::string::npos);
  }
  SUBCASE("elsewhere 0 is never a mask") {
    record.hypotheses[0].cross.weights.assign(record.hypotheses[0].cross.weights.size(), 0.0f);
    CHECK(rendered(record, {"cross"}, 200).find("·  ") == std::string::npos);
  }
}

TEST_CASE("terminal: the default is the last layer's heads of each kind") {
  const std::string text = rendered(demo_record(), {}, 80);
  for (const char* kind : {"encoder self-attention", "decoder self-attention", "cross-attention"}) {
    for (const char* head : {"0", "1"}) {
      const std::string title =
          std::string(kind) + " · layer 1 of 0–1 · head " + head + " of 0–1\n";
      CHECK_MESSAGE(text.find(title) != std::string::npos, title);
    }
  }
  CHECK(text.find("layer 0") == std::string::npos);
  CHECK(count_of(text, "[a-z]-attention · ") == 6);
}

TEST_CASE("terminal: all, none, and chosen maps in the model's order, once each") {
  const AttentionRecord record = demo_record();
  CHECK(count_of(rendered(record, {"all"}, 80), "-attention · ") == 12);
  CHECK(rendered(record, {"none"}, 80).empty());
  CHECK(count_of(rendered(record, {"encoder:0", "cross:0:1"}, 80), "-attention · ") == 3);
  const std::string text = rendered(record, {"cross:1:0", "encoder:0:1", "cross:1:0"}, 80);
  CHECK(count_of(text, "-attention · ") == 2);
  CHECK(text.find("encoder self-attention · layer 0 of 0–1 · head 1 of 0–1\n") <
        text.find("cross-attention · layer 1 of 0–1 · head 0 of 0–1\n"));
}

TEST_CASE("terminal: heads stand side by side where they fit") {
  const std::string wide = rendered(demo_record(), {"cross:1"}, 120);
  CHECK(wide.find("cross-attention · layer 1 of 0–1 · head 0 of 0–1   "
                  "cross-attention · layer 1 of 0–1 · head 1 of 0–1\n") != std::string::npos);
  CHECK(map_lines(wide).size() == 1 + 8);
  CHECK(map_lines(rendered(demo_record(), {"cross:1"}, 80)).size() == 1 + 8 + 1 + 8);
}

TEST_CASE("terminal: every weight is drawn once at every width") {
  for (const AttentionRecord& record : {demo_record(), long_record()}) {
    for (const int width : {40, 41, 57, 80, 120, 200, 1000}) {
      const AttentionMaps& self = record.hypotheses[0].decoder_self;
      const std::string cross = rendered(record, {"cross:0:0"}, width);
      const std::string decoder = rendered(record, {"decoder:0:0"}, width);
      CHECK(count_of(cross, "[01]\\.[0-9][0-9]") == self.queries * record.encoder_self.keys);
      CHECK(count_of(decoder, "[01]\\.[0-9][0-9]") == self.queries * (self.queries + 1) / 2);
      CHECK(count_of(decoder, "  ·(?= |\n)") == self.queries * (self.queries - 1) / 2);
    }
  }
}

TEST_CASE("terminal: no line is wider than the window") {
  for (const AttentionRecord& record : {demo_record(), long_record(), hostile_record()}) {
    for (const ColorMode color : {ColorMode::none, ColorMode::shades_256, ColorMode::true_color}) {
      for (const int width : {40, 41, 42, 43, 55, 64, 80, 81, 100, 120, 132, 250}) {
        for (const std::string& line : map_lines(rendered(record, {"all"}, width, color))) {
          REQUIRE_MESSAGE(display_width(without_colors(line)) <= width, line);
        }
      }
    }
  }
}

TEST_CASE("terminal: a window narrower than 40 columns gets lines for 40") {
  const std::string expected = rendered(demo_record(), {}, 40);
  for (const int width : {39, 20, 1, 0, -5}) CHECK(rendered(demo_record(), {}, width) == expected);
}

TEST_CASE("terminal: colours only paint the plain text") {
  for (const AttentionRecord& record : {demo_record(), long_record(), hostile_record()}) {
    const std::string plain = rendered(record, {"all"}, 100);
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(count_of(plain, " \n") == 0);
    for (const ColorMode color : {ColorMode::shades_256, ColorMode::true_color}) {
      const std::string painted = rendered(record, {"all"}, 100, color);
      CHECK(painted.find('\x1b') != std::string::npos);
      CHECK(without_shades(without_colors(painted)) == without_shades(plain));
      for (const std::string& line : map_lines(painted)) {
        const std::size_t last = line.rfind('\x1b');
        if (last != std::string::npos) CHECK(line.substr(last, 4) == "\x1b[0m");
      }
    }
  }
}

TEST_CASE("terminal: masked cells are not painted") {
  const std::string text = rendered(demo_record(), {"decoder:0:0"}, 80, ColorMode::true_color);
  const std::vector<std::string> lines = map_lines(text);
  REQUIRE(lines.size() == 9);
  CHECK(lines[3].ends_with("1.00 \x1b[0m   ·      ·      ·      ·      ·"));
  CHECK(lines[8].ends_with(" \x1b[0m"));
}

TEST_CASE("terminal: hostile tokens reach the terminal only spelled out") {
  static const std::regex raw(
      "[\x01-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]");
  for (const ColorMode color : {ColorMode::none, ColorMode::shades_256, ColorMode::true_color}) {
    for (const int width : {40, 80, 300}) {
      const std::string text = without_colors(rendered(hostile_record(), {"all"}, width, color));
      CHECK_FALSE(std::regex_search(text, raw));
      CHECK(is_valid_utf8(text));
      CHECK(text.find("\x1b[2J") == std::string::npos);
    }
  }
  CHECK(rendered(hostile_record(), {"cross:0:0"}, 300).find("\\u{1b}[31mred") != std::string::npos);
}

TEST_CASE("terminal: columns stay level under wide characters") {
  const std::string text = rendered(hostile_record(), {"encoder:0:0"}, 100);
  int numbers = -1;  // where the first number of a row begins
  for (const std::string& line : map_lines(text)) {
    std::smatch match;
    if (!std::regex_search(line, match, std::regex("[01]\\.[0-9][0-9][^0-9]"))) continue;
    const int column = display_width(match.prefix().str());
    if (numbers < 0) numbers = column;
    CHECK_MESSAGE(column == numbers, line);
  }
  CHECK(numbers > 0);
}

TEST_CASE("terminal: continuations of words are explained where they occur") {
  const std::string hint = "‿ goes on with the word before it.\n";
  CHECK(rendered(long_record(), {"cross:0:0"}, 80).find(hint) != std::string::npos);
  CHECK(rendered(demo_record(), {"cross:0:0"}, 80).find(hint) == std::string::npos);
}

TEST_CASE("terminal: odd weights keep the grid") {
  AttentionRecord record = demo_record();
  std::span<float> map = record.encoder_self.map(0, 0);
  map[0] = std::numeric_limits<float>::quiet_NaN();
  map[1] = -0.0f;
  map[2] = 12345678.0f;
  map[3] = -std::numeric_limits<float>::infinity();
  const std::vector<std::string> lines = map_lines(rendered(record, {"encoder:0:0"}, 80));
  CHECK(lines[3].starts_with("The     nan  0.00 1234…█ -inf "));
  CHECK(display_width(lines[3]) <= display_width(lines[2]) + 1);
}

TEST_CASE("terminal: a record without hypotheses or words draws what there is") {
  AttentionRecord record = demo_record();
  CHECK(choose_maps(record, 1, parse_show({"cross", "decoder"})).empty());
  record.hypotheses.clear();
  CHECK(count_of(rendered(record, {}, 80), "-attention · ") == 2);
  record.encoder_self = {2, 2, 0, 0, {}};
  record.source.tokens.clear();
  CHECK(rendered(record, {}, 80).empty());
}

}  // namespace
}  // namespace attn
