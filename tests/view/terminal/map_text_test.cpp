// Tests maps on a terminal: words, shape, wrapping, and characters that must never reach the
// terminal.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <sstream>

#include "analysis/map_selection.h"
#include "base/strings/utf8.h"
#include "view/sample_record.h"
#include "view/terminal/map/map_plan.h"
#include "view/terminal/map/map_text.h"

namespace attn {
namespace {

using test::demo_record;
using test::hostile_record;
using test::long_record;
using test::sample_maps;

struct Wanted {
  int width = 80;
  int height = 0;
  ColorMode color = ColorMode::none;
  bool words = false;
  MapTextOptions how = {};
};

MapText text_of(const AttentionRecord& record, const std::vector<std::string>& show,
                const Wanted& wanted) {
  return render_maps(record, 0, select_maps(record, 0, parse_map_selection(show), wanted.words),
                     {wanted.width, wanted.height, wanted.color}, wanted.how);
}

std::string rendered(const AttentionRecord& record, const std::vector<std::string>& show, int width,
                     ColorMode color = ColorMode::none) {
  return text_of(record, show, {width, 0, color}).text;
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

/// Returns a demo record whose last cross-attention map has these round weights.
AttentionRecord known_record() {
  AttentionRecord record = demo_record();
  const float weights[] = {1.0f, 0.0f,  0.0f,   0.0f, 0.0f,   0.05f, 0.9f, 0.03f, 0.02f,  0.0f,
                           0.1f, 0.2f,  0.4f,   0.2f, 0.1f,   0.2f,  0.2f, 0.2f,  0.2f,   0.2f,
                           0.0f, 0.25f, 0.004f, 0.5f, 0.246f, 0.0f,  0.0f, 0.0f,  0.004f, 0.996f};
  std::copy(std::begin(weights), std::end(weights), record.hypotheses[0].cross.map(1, 1).begin());
  return record;
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

std::string drawn(const AttentionRecord& record, const std::vector<std::string>& show,
                  const Wanted& wanted) {
  return text_of(record, show, wanted).text;
}

constexpr Wanted numbers(int width) {
  Wanted wanted{.width = width};
  wanted.how.numbers = true;
  return wanted;
}

constexpr Wanted top(int count, int width = 80) {
  Wanted wanted{.width = width};
  wanted.how.top = count;
  return wanted;
}

std::ptrdiff_t titles(const std::string& text) {
  return count_of(text, "(encoder|decoder|cross):([0-9]|mean)");
}

TEST_CASE("terminal: a cross map, word for word") {
  CHECK(rendered(known_record(), {"cross:1:1"}, 80) ==
        "Cross-attention: each step (reads → writes) looks at the source tokens.\n"
        "                  cross:1:1 · aligns best\n"
        "  reads  → writes   0 The 1 group  2 went  3 home  4 </s>\n"
        "0 <pad>  → Die       1.00█   0.00    0.00    0.00    0.00\n"
        "1 Die    → Gruppe    0.05░   0.90█   0.03    0.02    0.00\n"
        "2 Gruppe → ging      0.10░   0.20░   0.40▒   0.20░   0.10░\n"
        "3 ging   → nach      0.20░   0.20░   0.20░   0.20░   0.20░\n"
        "4 nach   → Hause     0.00    0.25▒   0.00    0.50▓   0.25▒\n"
        "5 Hause  → </s>      0.00    0.00    0.00    0.00    1.00█\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72. A row sums to 1.\n");
}

TEST_CASE("terminal: heads side by side share the names of the rows") {
  CHECK(rendered(known_record(), {"cross:1"}, 80) ==
        "Cross-attention: each step (reads → writes) looks at the source tokens.\n"
        "                  cross:1:0                       cross:1:1 · aligns best\n"
        "                   0 The       2 went     4 </s>   0 The       2 went     4 </s>\n"
        "  reads  → writes        1 group     3 home              1 group     3 home\n"
        "0 <pad>  → Die     0.06░ 0.49▓ 0.24▒ 0.02  0.19░   1.00█ 0.00  0.00  0.00  0.00\n"
        "1 Die    → Gruppe  0.07░ 0.07░ 0.41▒ 0.41▒ 0.03    0.05░ 0.90█ 0.03  0.02  0.00\n"
        "2 Gruppe → ging    0.02  0.08░ 0.50▓ 0.27▒ 0.13░   0.10░ 0.20░ 0.40▒ 0.20░ 0.10░\n"
        "3 ging   → nach    0.04  0.07░ 0.46▓ 0.37▒ 0.06░   0.20░ 0.20░ 0.20░ 0.20░ 0.20░\n"
        "4 nach   → Hause   0.28▒ 0.16░ 0.08░ 0.36▒ 0.12░   0.00  0.25▒ 0.00  0.50▓ 0.25▒\n"
        "5 Hause  → </s>    0.41▒ 0.05░ 0.24▒ 0.28▒ 0.02    0.00  0.00  0.00  0.00  1.00█\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72. A row sums to 1.\n");
  const std::string wide = rendered(known_record(), {"cross:1"}, 120);
  CHECK(wide.find("0 The 1 group  2 went  3 home  4 </s>") != std::string::npos);
}

TEST_CASE("terminal: a map that does not fit as numbers is shaded, its names turned") {
  CHECK(rendered(known_record(), {"cross:1:1"}, 40) ==
        "Cross-attention: each step (reads →\n"
        "writes) looks at the source tokens.\n"
        "                cross:1:1 best\n"
        "                     g\n"
        "                     r  w  h  <\n"
        "                  T  o  e  o  /\n"
        "                  h  u  n  m  s\n"
        "                  e  p  t  e  >\n"
        "  reads → writ…   0  1  2  3  4\n"
        "0 <pad> → Die   ███\n"
        "1 Die   → Grup… ░░░███\n"
        "2 Grup… → ging  ░░░░░░▒▒▒░░░░░░\n"
        "3 ging  → nach  ░░░░░░░░░░░░░░░\n"
        "4 nach  → Hause    ▒▒▒   ▓▓▓▒▒▒\n"
        "5 Hause → </s>              ███\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72.\n"
        "best: aligns words best.\n");
}

TEST_CASE("terminal: --numbers folds what is too wide, with the names repeated") {
  CHECK(drawn(known_record(), {"cross:1:1"}, numbers(40)) ==
        "Cross-attention: each step (reads →\n"
        "writes) looks at the source tokens.\n"
        "                cross:1:1 · aligns best\n"
        "  reads → writ…   0 The 1 group  2 went\n"
        "0 <pad> → Die      1.00█   0.00    0.00\n"
        "1 Die   → Grup…    0.05░   0.90█   0.03\n"
        "2 Grup… → ging     0.10░   0.20░   0.40▒\n"
        "3 ging  → nach     0.20░   0.20░   0.20░\n"
        "4 nach  → Hause    0.00    0.25▒   0.00\n"
        "5 Hause → </s>     0.00    0.00    0.00\n"
        "… continued (part 2 of 2)\n"
        "  reads → writ…  3 home  4 </s>\n"
        "0 <pad> → Die      0.00    0.00\n"
        "1 Die   → Grup…    0.02    0.00\n"
        "2 Grup… → ging     0.20░   0.10░\n"
        "3 ging  → nach     0.20░   0.20░\n"
        "4 nach  → Hause    0.50▓   0.25▒\n"
        "5 Hause → </s>     0.00    1.00█\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72.\n");
}

TEST_CASE("terminal: the two decimals are those of the record, in each map that has numbers") {
  for (const AttentionRecord& record : {demo_record(), long_record()}) {
    for (const int width : {40, 41, 57, 80, 120, 200, 1000}) {
      const AttentionMaps& self = record.hypotheses[0].decoder_self;
      const std::string cross = drawn(record, {"cross:0:0"}, numbers(width));
      std::string decoder = drawn(record, {"decoder:0:0"}, numbers(width));
      decoder = decoder.substr(decoder.find("decoder:0:0"));
      // The scale has four numbers.
      CHECK(count_of(cross, "[01]\\.[0-9][0-9]") == self.queries * record.encoder_self.keys + 4);
      CHECK(count_of(decoder, "[01]\\.[0-9][0-9]") == self.queries * (self.queries + 1) / 2 + 4);
      CHECK(count_of(decoder, "·") == self.queries * (self.queries - 1) / 2);
    }
  }
}

TEST_CASE("terminal: masked cells are dots, and a weight of 0 is a number") {
  AttentionRecord record = demo_record();
  const std::vector<float> weights = {1, 0, 0, 0.5f, 0.5f, 0, 0, 1, 0};
  HypothesisRecord& hypothesis = record.hypotheses[0];
  hypothesis.decoder_self = {1, 1, 3, 3, weights};
  hypothesis.cross = sample_maps(2, 2, 3, 5, false);
  for (TokenSequence* sequence : {&hypothesis.produced, &hypothesis.decoder_input}) {
    sequence->tokens.resize(3);
  }
  CHECK(rendered(record, {"decoder"}, 80) ==
        "Decoder self-attention: each step looks at the tokens read so far; · is masked.\n"
        "                  decoder:0:0\n"
        "  reads  → writes  0 <pad>    1 Die 2 Gruppe\n"
        "0 <pad>  → Die        1.00█     ·        ·\n"
        "1 Die    → Gruppe     0.50▓    0.50▓     ·\n"
        "2 Gruppe → ging       0.00     1.00█    0.00\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72. A row sums to 1.\n");
  SUBCASE("an experiment that lets the future in is shown") {
    hypothesis.decoder_self.weights[1] = 0.25f;
    CHECK(rendered(record, {"decoder"}, 80).find("1.00█    0.25▒     ·\n") != std::string::npos);
  }
  SUBCASE("elsewhere 0 is never a mask") {
    hypothesis.cross.weights.assign(hypothesis.cross.weights.size(), 0.0f);
    CHECK(rendered(record, {"cross"}, 200).find("·") == std::string::npos);
  }
}

TEST_CASE("terminal: all heads of all layers are drawn where all are requested") {
  AttentionRecord many = demo_record();
  many.model.decoder_layers = many.model.encoder_layers = 2;
  many.encoder_self = sample_maps(2, 12, 5, 5, false);
  many.hypotheses[0].decoder_self = sample_maps(2, 12, 6, 6, true);
  many.hypotheses[0].cross = sample_maps(2, 12, 6, 5, false);
  CHECK(titles(drawn(many, {"all"}, {})) == 72);
}

TEST_CASE("terminal: all, none, and chosen maps in the model's order, once each") {
  const AttentionRecord record = demo_record();
  CHECK(titles(rendered(record, {"all"}, 80)) == 12);
  CHECK(rendered(record, {"none"}, 80).empty());
  CHECK(titles(rendered(record, {"encoder:0", "cross:0:1"}, 80)) == 3);
  const std::string text = rendered(record, {"cross:1:0", "encoder:0:1", "cross:1:0"}, 80);
  CHECK(titles(text) == 2);
  CHECK(text.find("encoder:0:1") < text.find("cross:1:0"));
}

TEST_CASE("terminal: means stand behind the heads") {
  const AttentionRecord record = known_record();
  const std::string text = rendered(record, {"cross:mean", "cross:1:mean", "cross:1"}, 80);
  CHECK(titles(text) == 4);
  CHECK(text.find("cross:1:1") < text.find("cross:1:mean"));
  CHECK(text.find("cross:1:mean") < text.find("cross:mean"));
  const std::vector<ShownMaps> mean = select_maps(record, 0, parse_map_selection({"cross:1:mean"}));
  const AttentionMaps& cross = record.hypotheses[0].cross;
  REQUIRE(mean.size() == 1);
  for (std::size_t i = 0; i < mean[0].maps[0].weights.size(); ++i) {
    CHECK(mean[0].maps[0].weights[i] ==
          doctest::Approx((cross.map(1, 0)[i] + cross.map(1, 1)[i]) / 2));
  }
}

TEST_CASE("terminal: one long map alone fits the window's height, two rows a line") {
  const std::string text = drawn(long_record(), {"cross:0:0"}, {.width = 80, .height = 24});
  const int rows = long_record().hypotheses[0].cross.queries;
  CHECK(to_int(map_lines(text).size()) <= 24);
  CHECK(to_int(map_lines(text).size()) >= rows / 2);
  CHECK(text.find("▀ upper row, ▄ lower, █ both: from 0.20. A row sums to 1.\n") !=
        std::string::npos);
  CHECK(text.find(" 0    5    10 ") != std::string::npos);  // every fifth column
  for (const char* shade : {"░", "▒", "▓"}) CHECK(text.find(shade) == std::string::npos);
  // Several maps, and numbers, are not compressed.
  for (const char* show : {"cross:0", "all"}) {
    CHECK(drawn(long_record(), {show}, {.width = 80, .height = 24}).find("▀") == std::string::npos);
  }
}

TEST_CASE("terminal: a map alone says how many lines are left, and makes room for a note") {
  const std::string_view note = "A note of the caller's.";
  for (const int height : {24, 14, 9, 3}) {
    Wanted wanted{.width = 80, .height = height};
    const MapText text = text_of(long_record(), {"cross:0:0"}, wanted);
    CHECK(text.lines == to_int(map_lines(text.text).size()));
    REQUIRE(text.spare_lines.has_value());
    CHECK(*text.spare_lines == height - text.lines);
    wanted.how.note = note;
    wanted.words = true;
    const MapText noted = text_of(long_record(), {"cross:0:0"}, wanted);
    CHECK(noted.text.ends_with(" " + std::string(note) + "\n"));
    CHECK(noted.lines <= text.lines);
  }
  // Numbers are shown for maps that fit with them.
  CHECK(drawn(known_record(), {"cross:1:1"}, {.width = 80, .height = 10}).find("0.05░") !=
        std::string::npos);
  CHECK(drawn(known_record(), {"cross:1:1"}, {.width = 80, .height = 8}).find("▀") !=
        std::string::npos);
  CHECK_FALSE(text_of(long_record(), {"cross:0:0"}, {.width = 80}).spare_lines.has_value());
  CHECK_FALSE(text_of(long_record(), {"cross:0"}, {.width = 80, .height = 24}).spare_lines);
}

TEST_CASE("terminal: no row of a head that is switched off sums to 1") {
  AttentionRecord record = known_record();
  const std::string sums = "A row sums to 1.";
  CHECK(rendered(record, {"cross:1"}, 80).find(sums) != std::string::npos);
  std::span<float> map = record.hypotheses[0].cross.map(1, 1);
  std::fill(map.begin(), map.end(), 0.0f);
  CHECK(rendered(record, {"cross:1"}, 80).ends_with("█ 0.72.\n"));
  CHECK(rendered(record, {"cross:0"}, 80).find(sums) != std::string::npos);
}

TEST_CASE("terminal: what shades mean stands under the last map that it is true of") {
  AttentionRecord record = long_record();
  record.encoder_self = sample_maps(1, 1, 3, 3, false);
  record.source.tokens = {"▁a", "▁b", "</s>"};
  record.source.ids.resize(3);
  record.hypotheses[0].cross = sample_maps(1, 1, 16, 3, false);
  const std::string text = drawn(record, {"all"}, {.width = 80, .color = ColorMode::true_color});
  CHECK(count_of(text, "Scale ") == 3);  // numbers, shades, numbers
  CHECK(text.find("Scale ") < text.find("Decoder self-attention"));
  CHECK(without_colors(text).find("in tenths. A row sums to 1.\n\nCross-attention") !=
        std::string::npos);
}

TEST_CASE("terminal: halves show every weight of both rows") {
  AttentionRecord record = long_record();
  AttentionMaps& cross = record.hypotheses[0].cross;
  std::fill(cross.weights.begin(), cross.weights.end(), 0.0f);
  const std::span<float> map = cross.map(0, 0);
  const auto keys = to_size(cross.keys);
  map[0] = 1;         // row 0, column 0: upper half
  map[keys + 1] = 1;  // row 1, column 1: lower half
  map[2] = map[keys + 2] = 1;
  const std::vector<std::string> lines =
      map_lines(drawn(record, {"cross:0:0"}, {.width = 80, .height = 24}));
  REQUIRE(lines.size() > 3);
  CHECK_MESSAGE(lines[2].find(" ▀▄█ ") != std::string::npos, lines[2]);
  CHECK(count_of(lines[3], "▀|▄|█") == 0);
  // In color, two equal cells become a space with their background, and tiny weights nothing.
  map[3] = map[keys + 4] = 0.04F;
  map[5] = 0.06F;
  Wanted wanted{.width = 80, .height = 24};
  wanted.color = ColorMode::true_color;
  const std::vector<std::string> painted =
      map_lines(without_colors(drawn(record, {"cross:0:0"}, wanted)));
  CHECK_MESSAGE(painted.at(2).find(" ▀▄   ▀ ") != std::string::npos, painted.at(2));
}

TEST_CASE("terminal: whole words, with the numbers that --swap and --align take") {
  const std::string text = drawn(known_record(), {"cross:1:1"}, {.width = 80, .words = true});
  CHECK(text ==
        "Cross-attention: the steps that write a word (row) look at the source words.\n"
        "         cross:1:1 · aligns best\n"
        "  writes   0 The 1 group  2 went  3 home    </s>\n"
        "0 Die       1.00█   0.00    0.00    0.00    0.00\n"
        "1 Gruppe    0.05░   0.90█   0.03    0.02    0.00\n"
        "2 ging      0.10░   0.20░   0.40▒   0.20░   0.10░\n"
        "3 nach      0.20░   0.20░   0.20░   0.20░   0.20░\n"
        "4 Hause     0.00    0.25▒   0.00    0.50▓   0.25▒\n"
        "  </s>      0.00    0.00    0.00    0.00    1.00█\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72. A row sums to 1.\n");
  AttentionRecord record = known_record();
  record.source_text = "The group wenthome";
  record.source.tokens[3] = "home";  // continues with "went"
  const std::string merged = drawn(record, {"cross:1:1"}, {.width = 80, .words = true});
  CHECK(merged.find("2 wenthome") != std::string::npos);
  CHECK(count_of(merged, "2 ging +0\\.10░") == 1);
  CHECK(merged.find("0.60▓") != std::string::npos);  // 0.40 and 0.20
}

TEST_CASE("terminal: --top lists the largest weights of each row") {
  CHECK(drawn(known_record(), {"cross:1:1"}, top(2)) ==
        "Cross-attention: each step (reads → writes) looks at the source tokens.\n"
        "  reads  → writes cross:1:1 · aligns best\n"
        "0 <pad>  → Die    0 The   1.00█\n"
        "1 Die    → Gruppe 1 group 0.90█ 0 The   0.05░\n"
        "2 Gruppe → ging   2 went  0.40▒ 1 group 0.20░\n"
        "3 ging   → nach   0 The   0.20░ 1 group 0.20░\n"
        "4 nach   → Hause  3 home  0.50▓ 1 group 0.25▒\n"
        "5 Hause  → </s>   4 </s>  1.00█\n");
  // All weights are listed, except those that would be written as 0.00.
  const auto lines = [](int width) {
    return map_lines(drawn(long_record(), {"cross:0:0"}, top(3, width))).size();
  };
  CHECK(lines(72) == lines(200));  // shorter names, and one line per row
  const std::string all = drawn(known_record(), {"cross:1:1"}, top(99, 200));
  CHECK(count_of(all, "[01]\\.[0-9][0-9]") == 1 + 4 + 5 + 5 + 3 + 1);
  for (const int width : {40, 57, 80, 120}) {
    for (const std::string& line : map_lines(drawn(long_record(), {"all"}, top(3, width)))) {
      CHECK_MESSAGE(display_width(line) <= width, line);
    }
  }
}

TEST_CASE("terminal: no line is wider than the window") {
  for (const AttentionRecord& record : {demo_record(), long_record(), hostile_record()}) {
    for (const ColorMode color : {ColorMode::none, ColorMode::shades_256, ColorMode::true_color}) {
      for (const int width : {40, 41, 42, 43, 55, 64, 80, 81, 100, 120, 132, 250}) {
        for (const bool by_words : {false, true}) {
          for (const bool with_numbers : {false, true}) {
            Wanted wanted{width, 0, color, by_words};
            wanted.how.numbers = with_numbers;
            for (const std::string& line : map_lines(drawn(record, {"all"}, wanted))) {
              REQUIRE_MESSAGE(display_width(without_colors(line)) <= width, line);
            }
          }
        }
        for (const std::string& line :
             map_lines(drawn(record, {"cross:0:0"}, {width, 24, color}))) {
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

TEST_CASE("terminal: colours paint the numbers, and take the place of shades") {
  for (const AttentionRecord& record : {demo_record(), hostile_record()}) {
    const std::string plain = drawn(record, {"all"}, numbers(100));
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(count_of(plain, " \n") == 0);
    for (const ColorMode color : {ColorMode::shades_256, ColorMode::true_color}) {
      Wanted wanted = numbers(100);
      wanted.color = color;
      const std::string painted = drawn(record, {"all"}, wanted);
      CHECK(painted.find('\x1b') != std::string::npos);
      const std::string unpainted = without_shades(without_colors(painted));
      const std::size_t end = unpainted.rfind("\nScale ");
      REQUIRE(end != std::string::npos);
      CHECK(without_shades(plain).starts_with(unpainted.substr(0, end)));
      for (const std::string& line : map_lines(painted)) {
        const std::size_t last = line.rfind('\x1b');
        if (last != std::string::npos) CHECK(line.substr(last, 4) == "\x1b[0m");
      }
    }
  }
}

TEST_CASE("terminal: painted shades say their digits, so that a copy without colours can be read") {
  Wanted wanted{.width = 40, .color = ColorMode::true_color};
  const std::string three = without_colors(drawn(known_record(), {"cross:1:1"}, wanted));
  CHECK(three.find("  1.\n") != std::string::npos);
  CHECK(three.find("1 Die   → Grup…   5 90") != std::string::npos);
  CHECK(three.find("in hundredths") != std::string::npos);
  wanted.width = 60;  // digits that would touch are shown as tenths
  const std::string two = without_colors(drawn(long_record(), {"cross:0:0"}, wanted));
  CHECK(two.find("in tenths") != std::string::npos);
}

TEST_CASE("terminal: masked cells are not painted") {
  const std::string text = rendered(demo_record(), {"decoder:0:0"}, 80, ColorMode::true_color);
  bool first = true;
  for (const std::string& line : map_lines(text)) {
    if (without_colors(line).find("0 <pad>  → Die") != 0 || !first) continue;
    first = false;
    CHECK(count_of(line, "1\\.00 \x1b\\[0m( +·){5}$") == 1);
  }
  CHECK_FALSE(first);
}

TEST_CASE("terminal: columns stay level under wide characters") {
  const std::string text = drawn(hostile_record(), {"encoder:0:0"}, numbers(100));
  int numbers_begin = -1;  // column where the first number of a row begins
  for (const std::string& line : map_lines(text)) {
    std::smatch match;
    if (!std::regex_search(line, match, std::regex("[01]\\.[0-9][0-9][^0-9]"))) continue;
    if (line.find("from 0.04") != std::string::npos) continue;
    const int column = display_width(match.prefix().str());
    if (numbers_begin < 0) numbers_begin = column;
    CHECK_MESSAGE(column == numbers_begin, line);
  }
  CHECK(numbers_begin > 0);
}

TEST_CASE("terminal: turned names are cut between characters, wide ones in two columns") {
  CHECK(vertical_label("group", 9) == std::vector<std::string>{"g", "r", "o", "u", "p"});
  CHECK(vertical_label("東京", 9) == std::vector<std::string>{"東", "京"});
  CHECK(vertical_label("e\u0301a", 9) == std::vector<std::string>{"e\u0301", "a"});
  CHECK(vertical_label("newspaper", 4) == std::vector<std::string>{"n", "e", "w", "⋮"});
  CHECK(vertical_label("", 4).empty());
}

TEST_CASE("terminal: over cells of one column stand numbers, and the names in a list above") {
  const std::string text = drawn(long_record(), {"encoder:0"}, {.width = 80});
  const std::vector<std::string> lines = map_lines(text);
  const auto key = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("Columns: 0 ");
  });
  REQUIRE(key != lines.end());
  const auto tokens = long_record().source.tokens.size();
  REQUIRE(tokens > 10);
  REQUIRE(tokens < 100);
  std::string tens, ones;
  for (std::size_t i = 0; i < tokens; ++i) {
    tens += i < 10 ? " " : std::to_string(i / 10);
    ones += std::to_string(i % 10);
  }
  CHECK(count_of(text, " " + tens + "( |\n)") >= 1);
  CHECK(count_of(text, " " + ones + "( |\n)") >= 1);
  for (const std::string& line : lines) CHECK_MESSAGE(display_width(line) <= 80, line);
}

TEST_CASE("terminal: names stand over each row of maps that all are requested") {
  const std::string all = drawn(known_record(), {"encoder"}, {.width = 60});
  CHECK(count_of(all, "0 The ") > 2 * 2);
}

TEST_CASE("terminal: a title without room says best, and a line what that is") {
  const std::string hint = "best: aligns words best.\n";
  CHECK(rendered(known_record(), {"cross:1:1"}, 40).ends_with(hint));
  CHECK(rendered(known_record(), {"cross:1:1"}, 80).find(hint) == std::string::npos);
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
  const std::string text = rendered(record, {"encoder:0:0"}, 80);
  CHECK(text.find("-0.00") == std::string::npos);
  const std::vector<std::string> lines = map_lines(text);
  REQUIRE(lines.size() > 4);
  CHECK_MESSAGE(count_of(lines[3], "^0 The +nan +0\\.00 +123456…█ +-inf ") == 1, lines[3]);
  CHECK(display_width(lines[3]) <= display_width(lines[4]) + 1);
  CHECK(drawn(record, {"encoder:0:0"}, top(5)).find("0 The") != std::string::npos);
}

TEST_CASE("terminal: a record without hypotheses or words draws what there is") {
  AttentionRecord record = demo_record();
  CHECK(select_maps(record, 1, parse_map_selection({"cross", "decoder"})).empty());
  record.hypotheses.clear();
  CHECK(titles(rendered(record, {}, 80)) == 2);
  record.encoder_self = {2, 2, 0, 0, {}};
  record.source.tokens.clear();
  CHECK(rendered(record, {}, 80).empty());
  AttentionRecord silent = test::sample_record({"</s>"}, {"</s>"});
  CHECK(rendered(silent, {"all"}, 80).empty());
}

TEST_CASE("cells that a pattern leaves out are marked, and only there a line says so") {
  const AttentionRecord record = test::patterned_record();
  CHECK(rendered(record, {"encoder:0:0"}, 60) ==
        "Encoder self-attention: each source token (row) looks at\n"
        "those of its pattern.\n"
        "        encoder:0:0\n"
        "          0 The 1 group  2 went  3 home  4 </s>\n"
        "0 The      0.02    0.02    0.14░   0.21▒   0.62▓\n"
        "1 group    0.03    0.14░   0.17░    -       -\n"
        "2 went     0.01    0.23▒   0.55▓   0.02     -\n"
        "3 home     0.06░    -      0.43▓   0.05░   0.42▒\n"
        "4 </s>     0.64▓    -       -      0.09░   0.04\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72. A row sums to 1.\n"
        "- is not computed: the pattern leaves it out.\n");
  AttentionRecord own = record;
  own.encoder_self.seen->non_token_weights.keys = &model_global_tokens;
  own.encoder_self.seen->non_token_weights.weights = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0, 0, 0, 0, 0,
                                                      0,    0,    0,    0,    0,    0, 0, 0, 0, 0};
  CHECK(rendered(own, {"encoder:0:0"}, 60) ==
        "Encoder self-attention: each source token (row) looks at\n"
        "those of its pattern.\n"
        "        encoder:0:0\n"
        "          0 The 1 group  2 went  3 home  4 </s>\n"
        "0 The      0.02    0.02    0.14░   0.21▒   0.62▓\n"
        "1 group    0.03    0.14░   0.17░    -       -\n"
        "2 went     0.01    0.23▒   0.55▓   0.02     -\n"
        "3 home     0.06░    -      0.43▓   0.05░   0.42▒\n"
        "4 </s>     0.64▓    -       -      0.09░   0.04\n"
        "░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72.\n"
        "- is not computed: the pattern leaves it out.\n"
        "The model's own global tokens take 0.10 to 0.50 of a row.\n");
  const std::string low = drawn(record, {"encoder:0:0"}, {60, 8, ColorMode::true_color});
  CHECK(without_colors(low).find("What is unpainted is not computed.") != std::string::npos);
  CHECK(low.find("\x1b[0m  \x1b[") != std::string::npos);  // two cells of the last row
  CHECK(drawn(record, {"encoder:0:0"}, {60, 8, ColorMode::none}).find("unpainted") ==
        std::string::npos);
  const std::string words = text_of(record, {"encoder:0:0"}, {60, 0, ColorMode::none, true}).text;
  CHECK(words.find("3 home     0.06░    -      0.43▓   0.05░   0.42▒\n") != std::string::npos);
  CHECK(rendered(record, {"encoder:0:mean"}, 40).find("not computed") != std::string::npos);
  for (const AttentionRecord& other : {demo_record(), long_record()}) {
    CHECK(rendered(other, {"all"}, 80).find("not computed") == std::string::npos);
  }
  CHECK(rendered(record, {"cross"}, 80).find("not computed") == std::string::npos);
}

}  // namespace
}  // namespace attn
