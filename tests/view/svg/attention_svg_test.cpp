#include "view/svg/map/attention_svg.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "base/at.h"
#include "base/error.h"
#include "check_error.h"
#include "view/color.h"
#include "view/map_labels.h"
#include "view/sample_record.h"
#include "view/svg/picture_checks.h"

namespace attn {
namespace {

using namespace test;

constexpr AttentionSite every_kind[] = {AttentionSite::encoder_self, AttentionSite::decoder_self,
                                        AttentionSite::cross};

/// Checks the parts of the large map that a picture has.
void check_large_map(const Document& document, const AttentionRecord& record,
                     const AttentionSvgOptions& choice, int layer, int head) {
  const AttentionMaps& maps = *find_maps(record, choice.site, choice.hypothesis);
  const std::vector<int> heads = document.find("g", "head");
  REQUIRE(heads.size() == 1);
  CHECK(document.at(heads[0]).get("data-layer") == std::to_string(layer));
  CHECK(document.at(heads[0]).get("data-head") == std::to_string(head));
  int cells = 0;
  for (const int cell : document.find("g", "cell")) {
    const int row = std::stoi(document.at(document.at(cell).parent).get("data-query"));
    const int key = std::stoi(document.at(cell).get("data-key"));
    const float weight = maps.at(layer, head, row, key);
    CAPTURE(row);
    CAPTURE(key);
    CHECK(same_float(read_weight(document.at(cell).get("data-weight")), weight));
    std::istringstream title(document.child_text(cell, "title"));
    std::string first;
    title >> first;
    CHECK(same_float(read_weight(first), weight));
    const bool masked = choice.site == AttentionSite::decoder_self && key > row && weight == 0;
    CHECK(document.at(cell).has_class("hidden") == masked);
    const std::vector<int> rects = document.children(cell, "rect");
    REQUIRE(rects.size() == 1);
    CHECK(document.at(rects[0]).get("class") == (masked ? "masked"
                                                 : !std::isfinite(weight)
                                                     ? "odd"
                                                     : "s" + std::to_string(color_level(weight))));
    const std::vector<int> numbers = document.children(cell, "text");
    CHECK(numbers.size() == (masked ? 0u : 1u));
    if (!numbers.empty() && std::isfinite(weight)) {
      CHECK(document.at(numbers[0]).text == fmt::format("{:.2f}", weight));
      CHECK(document.at(numbers[0]).has_class("strong") ==
            (color_level(weight) >= inverted_text_level));
    }
    ++cells;
  }
  CHECK(cells == maps.queries * maps.keys);
}

/// Checks the rows of a data-weights attribute against a head.
void check_weight_rows(const std::string& rows, const AttentionMaps& maps, int layer, int head) {
  std::istringstream lines(rows);
  int query = 0;
  for (std::string line; std::getline(lines, line, ';'); ++query) {
    std::istringstream numbers(line);
    int key = 0;
    for (std::string number; numbers >> number; ++key) {
      CHECK(same_float(read_weight(number), maps.at(layer, head, query, key)));
    }
    CHECK(key == maps.keys);
  }
  CHECK(query == maps.queries);
}

/// Returns what the paths of a small map paint: one level per cell, −1 for the background, −2 for
/// anything odd.
std::vector<int> painted(const Document& document, int map, const AttentionMaps& maps) {
  std::vector<int> levels(to_size(maps.queries * maps.keys), -1);
  for (const int path : document.find("path")) {
    if (!document.is_inside(path, map) || document.at(path).has_class("masked")) continue;
    const std::string css_class = document.at(path).get("class");
    const int level = css_class == "odd" ? -2 : std::stoi(css_class.substr(1));
    const std::string data = document.at(path).get("d");
    static const std::regex run(R"(M(\d+) (\d+)h(\d+)v1h-(\d+)z)");
    std::size_t matched = 0;
    for (std::sregex_iterator it(data.begin(), data.end(), run), end; it != end; ++it) {
      matched += to_size(it->length());
      CHECK((*it)[3] == (*it)[4]);
      for (int i = 0; i < std::stoi((*it)[3]); ++i) {
        const int cell = std::stoi((*it)[2]) * maps.keys + std::stoi((*it)[1]) + i;
        REQUIRE(cell < to_int(levels.size()));
        CHECK(at(levels, cell) == -1);  // painted only once
        at(levels, cell) = level;
      }
    }
    CHECK(matched == data.size());
  }
  return levels;
}

void check_overview(const Document& document, const AttentionRecord& record,
                    const AttentionSvgOptions& choice) {
  const AttentionMaps& maps = *find_maps(record, choice.site, choice.hypothesis);
  std::set<std::string> ids;
  for (const int map : document.find("g", "map")) {
    const int layer = std::stoi(document.at(map).get("data-layer"));
    const int head = std::stoi(document.at(map).get("data-head"));
    ids.insert(document.at(map).get("id"));
    check_weight_rows(document.at(map).get("data-weights"), maps, layer, head);
    const std::vector<int> levels = painted(document, map, maps);
    for (int row = 0; row < maps.queries; ++row) {
      for (int key = 0; key < maps.keys; ++key) {
        const float weight = maps.at(layer, head, row, key);
        const int level = at(levels, row * maps.keys + key);
        const bool above = choice.site == AttentionSite::decoder_self && key > row;
        int expected = !std::isfinite(weight) ? -2 : color_level(weight);
        if (expected == 0 && (!above || weight == 0)) expected = -1;
        CHECK(level == expected);
      }
    }
  }
  CHECK(ids.size() == to_size(maps.layers * maps.heads));
}

TEST_CASE("pictures: every weight of every kind reads back exactly") {
  const AttentionRecord record = demo_record();
  for (const AttentionSite site : every_kind) {
    const AttentionSvgOptions choice{site, 0, 0, 1};
    const Document both = checked_picture(attention_svg(record, choice));
    check_large_map(both, record, choice, 0, 1);
    check_overview(both, record, choice);
    const std::vector<int> frames = both.find("rect", "chosen");
    REQUIRE(frames.size() == 1);
    CHECK(both.at(both.at(frames[0]).parent).get("id") == std::string(site_key(site)) + "-0-1");
  }
}

TEST_CASE("pictures: without a choice, the last layer's first head of cross-attention is large") {
  const AttentionRecord record = demo_record();
  const Document document = checked_picture(attention_svg(record));
  check_large_map(document, record, {}, 1, 0);
  CHECK(document.texts().find("cross:1:0 (of 2 layers × 2 heads)\n") != std::string::npos);
}

TEST_CASE("pictures: one style holds the colours of light and of dark viewers") {
  const Document document = checked_picture(attention_svg(demo_record()));
  const std::string style = document.at(document.find("style")[0]).text;
  const std::size_t dark = style.find("@media screen and (prefers-color-scheme:dark){");
  REQUIRE(dark != std::string::npos);
  for (int level = 0; level < color_levels; ++level) {
    const auto rule = [level](const Rgb& color) {
      return fmt::format(".attn-picture .s{}{{fill:#{:02x}{:02x}{:02x}}}", level, color.red,
                         color.green, color.blue);
    };
    CHECK(style.find(rule(light_color(level))) < dark);
    const std::size_t found = style.find(rule(dark_color(level)), dark);
    CHECK(found != std::string::npos);
  }
  // Every class of a colored element has a CSS rule.
  for (const Node& node : document.nodes) {
    if (node.name != "rect" && node.name != "path") continue;
    CHECK_MESSAGE(style.find("." + node.get("class")) != std::string::npos, node.get("class"));
  }
}

TEST_CASE("pictures: title, sentences, model, axes and legend are text") {
  AttentionRecord record = demo_record();
  record.model.name = "/home/someone/models/en-de/";
  const std::string texts = checked_picture(attention_svg(record)).texts();
  for (const char* text :
       {"Cross-attention", "The group went home", "→ Die Gruppe ging nach Hause",
        "en-de · 2 + 2 layers · 2 heads · d_model 12", "key: source token →", "query ↓", "reads",
        "writes", "Gruppe", "group", "<pad>", "</s>", "weight", "0", "0.25", "1"}) {
    CAPTURE(text);
    CHECK(texts.find(std::string(text) + "\n") != std::string::npos);
  }
  CHECK(attention_svg(record).find("someone") == std::string::npos);
  record.model.random_weights = true;
  record.model.seed = 7;
  record.model.update = 300;
  record.hypotheses.push_back(record.hypotheses[0]);
  std::string second = checked_picture(attention_svg(record, {AttentionSite::cross, 1})).texts();
  std::replace(second.begin(), second.end(), '\n', ' ');  // the label may be wrapped
  CHECK(second.find("translation 2 of 2 · en-de · random weights (seed 7) · update 300 · 2 + 2 "
                    "layers") != std::string::npos);
  const std::string encoder =
      checked_picture(attention_svg(record, {AttentionSite::encoder_self})).texts();
  CHECK(encoder.find("→ Die") == std::string::npos);
  CHECK(encoder.find("writes") == std::string::npos);
  CHECK(encoder.find("masked") == std::string::npos);
  CHECK(checked_picture(attention_svg(record, {AttentionSite::decoder_self}))
            .texts()
            .find("masked\n") != std::string::npos);
}

TEST_CASE("pictures: rows and columns have their tokens, level with their cells") {
  AttentionRecord record = demo_record();
  AttentionMaps& cross = record.hypotheses[0].cross;  // a single head, so there is no overview
  cross.layers = cross.heads = 1;
  cross.weights.resize(to_size(cross.queries * cross.keys));
  const Document document = checked_picture(attention_svg(record));
  CHECK(document.find("g", "map").empty());
  const std::vector<int> rows = document.find("g", "row");
  for (int query = 0; query < 6; ++query) {
    const int cell = document.children(at(rows, query), "g")[0];
    const int rect = document.children(cell, "rect")[0];
    const double y = document.place(rect, {0, document.at(rect).number("y") + 23}).y;
    std::string found;
    for (const int text : document.find("text")) {
      if (!document.at(document.at(text).parent).has_class("queries")) continue;
      if (std::abs(document.place(text, {0, document.at(text).number("y")}).y - y) < 6) {
        found += document.at(text).text + " ";
      }
    }
    const MapLabels axes = map_labels(record, AttentionSite::cross, 0);
    const auto at = to_size(query);
    CHECK(found == axes.inputs[at] + " → " + axes.outputs[at] + " ");
  }
}

TEST_CASE("pictures: the scale's bar has its ticks where the colours are") {
  const Document document = checked_picture(attention_svg(demo_record()));
  const std::vector<int> bars = document.find("g", "bar");
  REQUIRE(bars.size() == 1);
  const std::vector<int> rects = document.children(bars[0], "rect");
  double before = -1;
  for (const int rect : rects) {
    CHECK(document.at(rect).number("x") > before);
    before = document.at(rect).number("x");
  }
  for (const int text : document.find("text", "label-10")) {
    if (!document.at(document.at(text).parent).has_class("legend")) continue;
    const float weight = read_weight(document.at(text).text);
    const double x = document.at(text).number("x");
    int nearest = 0;
    double best = 1e9;
    for (const int rect : rects) {
      const double centre = document.at(rect).number("x") + document.at(rect).number("width") / 2;
      if (std::abs(centre - x) >= best) continue;
      best = std::abs(centre - x);
      nearest = std::stoi(document.at(rect).get("class").substr(1));
    }
    CHECK(std::abs(nearest - color_level(weight)) <= 1);
  }
}

TEST_CASE("pictures: hostile tokens and sentences stay text inside the picture") {
  AttentionRecord record = hostile_record();
  record.source_text =
      "</text></svg><script>alert(1)</script> <svg onload=\"x()\"> & ]]> \x1b[31m \u202Eevil "
      "\u2028 😀 " +
      std::string(300, 'W') + " שלום עולם مرحبا \xff\xef\xbf\xbf";
  record.hypotheses[0].text = record.source_text;
  record.model.name = "</desc><script>\"'&\xff" + std::string(500, 'm');
  record.source.tokens[0] = "</title><script>alert(1)</script>";
  record.source.tokens[1] = "▁שלום";
  record.hypotheses[0].produced.tokens[0] = "\"><svg onload=alert(1)>";
  for (const AttentionSite site : every_kind) {
    for (const std::string& svg :
         {attention_svg(record, {site}), attention_svg(record, {site, 0, 0})}) {
      const Document document = checked_picture(svg);
      CHECK(svg.find("<script") == std::string::npos);
      CHECK(svg.find('\x1b') == std::string::npos);
      CHECK(svg.find("\u202E") == std::string::npos);
      CHECK(svg.find("\u2028") == std::string::npos);
      CHECK(document.texts().find("</text></svg><script>alert(1)") != std::string::npos);
    }
    check_overview(checked_picture(attention_svg(record, {site})), record, {site});
  }
}

TEST_CASE("pictures: NaN, infinities, negative and huge weights are shown as what they are") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  AttentionRecord record = demo_record();
  for (AttentionMaps* maps :
       {&record.encoder_self, &record.hypotheses[0].cross, &record.hypotheses[0].decoder_self}) {
    const float odd[] = {std::nanf(""), infinity, -infinity, -0.25f, 1.5f, 1e30f, 1e-45f, -0.0f};
    for (std::size_t i = 0; i < std::size(odd); ++i) {
      maps->weights[i] = odd[i];
      maps->weights[maps->weights.size() - 25 + i] = odd[i];
    }
  }
  for (const AttentionSite site : every_kind) {
    const AttentionSvgOptions choice{site, 0, 0, 0};
    const Document document = checked_picture(attention_svg(record, choice));
    check_overview(document, record, choice);
    const std::string texts = document.texts();
    for (const char* text : {"NaN", "∞", "−∞", "-0.25", "1.50", "not a number"}) {
      CHECK_MESSAGE(texts.find(std::string(text) + "\n") != std::string::npos, text);
    }
    CHECK(texts.find("-0.00") == std::string::npos);
    CHECK(texts.find("1000000") == std::string::npos);  // 1e30 does not fit its cell
  }
}

TEST_CASE("pictures: nothing to show is said") {
  AttentionRecord record = sample_record({"</s>"}, {"</s>"});
  record.hypotheses[0] = {};
  record.hypotheses[0].cross = {2, 2, 0, 1, {}};
  const std::string texts = checked_picture(attention_svg(record)).texts();
  CHECK(texts.find("no tokens here, so nothing is attended to\n") != std::string::npos);
  CHECK(texts.find("(empty sentence)\n") != std::string::npos);
  checked_picture(attention_svg(AttentionRecord{}));
  checked_picture(attention_svg(AttentionRecord{}, {AttentionSite::encoder_self}));
  // The encoder still reads "</s>".
  const AttentionSvgOptions encoder{AttentionSite::encoder_self};
  check_large_map(checked_picture(attention_svg(record, encoder)), record, encoder, 1, 0);
}

TEST_CASE("pictures: a choice that the record does not have is refused") {
  const AttentionRecord record = demo_record();
  const auto drawn = [&record](const AttentionSvgOptions& choice) {
    return [&record, choice] { attention_svg(record, choice); };
  };
  check_error(drawn({AttentionSite::cross, 0, 2}), ExitCode::usage,
              "cross-attention: no layer 2: there are layers 0 to 1");
  check_error(drawn({AttentionSite::cross, 0, -1}), ExitCode::usage,
              "cross-attention: no layer -1: there are layers 0 to 1");
  check_error(drawn({AttentionSite::encoder_self, 0, 0, 5}), ExitCode::usage,
              "encoder self-attention: no head 5: there are heads 0 to 1");
  check_error(drawn({AttentionSite::decoder_self, 3}), ExitCode::usage,
              "no hypothesis 3: there is 1 (counted from 0)");
}

TEST_CASE("pictures: long sentences and many heads") {
  AttentionRecord record = long_record();
  record.source.tokens.clear();
  for (int i = 0; i < 60; ++i) record.source.tokens.push_back("▁token" + std::to_string(i));
  record.encoder_self = sample_maps(6, 16, 60, 60, false);
  const AttentionSvgOptions choice{AttentionSite::encoder_self};
  const std::string svg = attention_svg(record, choice);
  const Document document = checked_picture(svg);
  CHECK(svg.size() < 10'000'000);
  CHECK(document.find("g", "map").size() == 96);
  const std::vector<int> heads = document.find("g", "head");
  REQUIRE(heads.size() == 1);
  CHECK(document.find("g", "cell").size() == 3600);
  CHECK(document.find("text", "value").empty());  // no room
  // Adjacent labels of an axis do not touch.
  double before = -100;
  int labels = 0;
  for (const int text : document.find("text")) {
    if (!document.at(document.at(text).parent).has_class("queries")) continue;
    const double y = document.at(text).number("y");
    if (y > before) CHECK(y - before >= font_size_of(document, text));
    before = y;
    ++labels;
  }
  CHECK(labels > 60 + 6 * 8);
}

TEST_CASE("pictures: a map of very many tokens is drawn as paths, and its overview left out") {
  AttentionRecord record = demo_record();
  record.encoder_self = sample_maps(2, 1, 150, 150, false);
  const AttentionSvgOptions choice{AttentionSite::encoder_self};
  Document document = checked_picture(attention_svg(record, choice));
  CHECK(document.find("g", "cell").empty());
  check_weight_rows(document.at(document.find("g", "head")[0]).get("data-weights"),
                    record.encoder_self, 1, 0);
  record.encoder_self = sample_maps(1, 1, 2001, 2000, false);
  document = checked_picture(attention_svg(record, choice));
  CHECK(document.find("g", "map").empty());
  CHECK(document.texts().find("The overview of all heads is left out") != std::string::npos);
}

TEST_CASE("pictures: the same record gives the same bytes") {
  CHECK(attention_svg(long_record()) == attention_svg(long_record()));
}

TEST_CASE("svg: cells that a pattern leaves out have a ground of their own, and a legend") {
  const AttentionRecord record = patterned_record();
  const std::string svg = attention_svg(record, {AttentionSite::encoder_self, 0, 0, 0});
  CHECK(
      svg.find(R"(<g class="cell hidden" data-weight="0" data-key="3"><title>0 (not computed))") !=
      std::string::npos);
  CHECK(svg.find(R"svg(<rect class="left-out")svg") != std::string::npos);
  // In a small map, the gap goes from the edge of the first cell that is left out to that of the
  // last.
  static const std::regex run(R"(<path class="left-out" d="M(\d+) (\d+)h(\d+)v(\d+)h-)");
  std::smatch found;
  REQUIRE(std::regex_search(svg, found, run));
  const int side = std::stoi(found[4]);
  CHECK(std::stoi(found[1]) == 3 * side);
  CHECK(std::stoi(found[2]) == side);
  CHECK(std::stoi(found[3]) == 2 * side);
  CHECK(svg.find("not computed: outside of the pattern</text>") != std::string::npos);
  CHECK(svg.find("attn-dots") != std::string::npos);
  for (const AttentionSite site : {AttentionSite::cross, AttentionSite::decoder_self}) {
    CHECK(attention_svg(record, {site}).find("left-out") == std::string::npos);
  }
  AttentionRecord own = record;
  NonTokenWeights<std::vector<float>>& non_token_weights = own.encoder_self.seen->non_token_weights;
  non_token_weights = {&model_global_tokens, std::vector<float>(4 * 5, 0.25F)};
  non_token_weights.weights[3] = 0.5F;
  const std::string rest = attention_svg(own, {AttentionSite::encoder_self});
  CHECK(rest.find("own global tokens take 0.25 to 0.50 of a row</text>") != std::string::npos);
  CHECK(rest.find("weights sum to 1 with those on the model's own global tokens") !=
        std::string::npos);
}

TEST_CASE("svg: large maps of a pattern are left out with a line") {
  constexpr int tokens = max_dense_tokens + 1;
  AttentionRecord record = demo_record();
  record.encoder_self = {1, 1, tokens, tokens, {}, PatternMaps{{small_longformer(tokens)}, {0}}};
  record.encoder_self.weights.resize(record.encoder_self.weight_count());
  const std::string svg = attention_svg(record, {AttentionSite::encoder_self});
  CHECK(svg.find("1025 × 1025 cells are more than a picture shows; JSON and CSV have those that "
                 "were computed</text>") != std::string::npos);
}

}  // namespace
}  // namespace attn
