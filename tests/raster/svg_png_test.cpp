#include "raster/svg_export.h"

#include <doctest/doctest.h>
#include <png.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/at.h"
#include "check_error.h"
#include "view/color.h"
#include "view/sample_record.h"
#include "view/svg/map/attention_svg.h"
#include "view/svg/picture_checks.h"
#include "view/svg/search_tree_svg.h"

namespace attn {
namespace {

using namespace test;

/// A PNG, decoded by libpng.
struct Pixels {
  explicit Pixels(const std::string& png) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_memory(&image, png.data(), png.size()) != 0);
    CHECK(image.format == PNG_FORMAT_RGB);
    image.format = PNG_FORMAT_RGB;
    width = to_int(image.width);
    height = to_int(image.height);
    bytes.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr) != 0);
    CHECK((image.warning_or_error & PNG_IMAGE_ERROR) == 0);
  }
  Rgb at(double x, double y) const {
    REQUIRE((x >= 0 && y >= 0 && x < width && y < height));
    const auto row = static_cast<std::size_t>(y), column = static_cast<std::size_t>(x);
    const std::size_t start = (row * to_size(width) + column) * 3;
    return {bytes[start], bytes[start + 1], bytes[start + 2]};
  }
  int width = 0;
  int height = 0;
  std::vector<unsigned char> bytes;
};

constexpr Rgb white{255, 255, 255};

bool librsvg_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  const std::string text(std::istreambuf_iterator<char>(maps), {});
  REQUIRE(text.find("libc") != std::string::npos);
  return text.find("librsvg") != std::string::npos;
}

TEST_CASE("png: librsvg is loaded with the first picture, not with the program") {
  // The program is started again, because earlier tests may have had an effect on this process.
  if (std::getenv("ATTN_PNG_FRESH") == nullptr) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command =
        "ATTN_PNG_FRESH=1 '" + self + "' --test-case='png: librsvg is loaded*' >/dev/null 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    return;
  }
  CHECK(!librsvg_is_loaded());
  svg_to_png(attention_svg(AttentionRecord{}), 1);
  CHECK(librsvg_is_loaded());
}

/// Checks that nothing is drawn at the edges, with the fonts of this machine.
void check_margin(const Pixels& pixels, int margin) {
  int drawn = 0;
  for (int y = 0; y < pixels.height; ++y) {
    for (int x = 0; x < pixels.width; ++x) {
      const bool edge =
          x < margin || y < margin || x >= pixels.width - margin || y >= pixels.height - margin;
      if (edge && pixels.at(x, y) != white) ++drawn;
    }
  }
  CHECK(drawn == 0);
}

/// Checks the colors of all cells near their corners, where there is no number.
void check_cells(const AttentionRecord& record, const AttentionSvgOptions& choice, double scale) {
  CAPTURE(scale);
  const std::string svg = attention_svg(record, choice);
  const Document document(svg);
  const Pixels pixels(svg_to_png(svg, scale));
  CHECK(pixels.width == std::ceil(document.nodes[0].number("width") * scale - 1e-6));
  CHECK(pixels.height == std::ceil(document.nodes[0].number("height") * scale - 1e-6));
  int cells = 0;
  for (const int cell : document.find("g", "cell")) {
    const int rect = document.children(cell, "rect")[0];
    const float weight = read_weight(document.at(cell).get("data-weight"));
    const Point corner = document.place(
        rect, {document.at(rect).number("x") + 4, document.at(rect).number("y") + 4});
    const Rgb color = pixels.at(corner.x * scale, corner.y * scale);
    if (document.at(cell).has_class("hidden")) {
      CHECK(color != light_color(0));
    } else {
      CHECK(color == light_color(color_level(weight)));
      ++cells;
    }
  }
  CHECK(cells > 20);
}

/// Checks the colors of the small maps in the middle of each cell.
void check_overview(const AttentionRecord& record, double scale) {
  const std::string svg = attention_svg(record);
  const Document document(svg);
  const Pixels pixels(svg_to_png(svg, scale));
  const AttentionMaps& maps = record.hypotheses[0].cross;
  for (const int map : document.find("g", "map")) {
    const int layer = std::stoi(document.at(map).get("data-layer"));
    const int head = std::stoi(document.at(map).get("data-head"));
    for (const int group : document.children(map, "g")) {
      for (int query = 0; query < maps.queries; ++query) {
        for (int key = 0; key < maps.keys; ++key) {
          const Point centre = document.place(group, {key + 0.5, query + 0.5});
          CHECK(pixels.at(centre.x * scale, centre.y * scale) ==
                light_color(color_level(maps.at(layer, head, query, key))));
        }
      }
    }
  }
}

TEST_CASE("png: each cell has the colour of its weight, at every scale") {
  const AttentionRecord record = demo_record();
  for (const double scale : {1.0, 1.5, 2.0, 3.0}) {
    check_cells(record, {AttentionSite::cross}, scale);
    check_overview(record, scale);
  }
  check_cells(record, {AttentionSite::decoder_self}, 2);
  check_overview(long_record(), 1);
}

TEST_CASE("png: no text is clipped, whatever it is") {
  AttentionRecord record = hostile_record();
  record.source_text = std::string(400, 'W') + " שלום 漢字 \x1b[31m";
  record.hypotheses[0].text = "مرحبا " + std::string(90, 'm') + " e\u0301\u0301";
  record.model.name = std::string(300, 'M');
  record.source.tokens[3] = "▁" + std::string(60, 'W');
  record.source.tokens.back() = std::string(60, 'W');
  record.hypotheses[0].decoder_input.tokens[1] = std::string(60, 'W');
  record.hypotheses[0].produced.tokens[1] = "ЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩЩ";
  for (const AttentionSite kind :
       {AttentionSite::encoder_self, AttentionSite::decoder_self, AttentionSite::cross}) {
    check_margin(Pixels(svg_to_png(attention_svg(record, {kind}), 1)), 12);
  }
  record.search = SearchTree{2, 1, {}};
  for (int i = 0; i < 4; ++i) {
    SearchNode node;
    node.parent = i - 1;
    node.token = std::string(60, 'W');
    node.score = -1e30f;
    node.kept = true;
    record.search->nodes.push_back(node);
  }
  check_margin(Pixels(svg_to_png(search_tree_svg(record), 1)), 12);
}

TEST_CASE("png: real letters are drawn") {
  const std::string svg = attention_svg(demo_record());
  const Pixels pixels(svg_to_png(svg, 1));
  int ink = 0;  // dark pixels of the title
  for (int y = 20; y < 48; ++y) {
    for (int x = 20; x < 300; ++x) ink += pixels.at(x, y) == Rgb{31, 35, 40} ? 1 : 0;
  }
  CHECK(ink > 100);
}

TEST_CASE("png: nothing to show is a picture, too") {
  const Pixels pixels(svg_to_png(attention_svg(AttentionRecord{}), 2));
  CHECK(pixels.width > 800);
  check_margin(pixels, 24);
}

TEST_CASE("png: the same SVG gives the same bytes") {
  const std::string svg = attention_svg(long_record());
  CHECK(svg_to_png(svg, 2) == svg_to_png(svg, 2));
}

std::string blank_svg(const std::string& width, const std::string& height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\"><rect width=\"4\" height=\"4\" fill=\"#0000ff\"/></svg>";
}

TEST_CASE("png: sizes are whole pixels, rounded up") {
  const Pixels pixels(svg_to_png(blank_svg("100", "3"), 1.1));
  CHECK(pixels.width == 110);
  CHECK(pixels.height == 4);
  CHECK(pixels.at(0, 0) == Rgb{0, 0, 255});
  CHECK(pixels.at(50, 1) == white);
  CHECK(Pixels(svg_to_png(blank_svg("1", "1"), 0.1)).width == 1);
}

TEST_CASE("png: a picture beyond the limits is refused before anything is drawn") {
  const auto made = [](const std::string& width, const std::string& height, double scale) {
    return [=] { svg_to_png(blank_svg(width, height), scale); };
  };
  check_error(made("4000", "10", 10), ExitCode::input,
              "PNG: 40000 × 100 pixels; expected at most 32767 a side and 100 million in all; try "
              "a scale of 8.19 or less, one head alone, or SVG");
  check_error(made("10001", "10000", 1), ExitCode::input, "try a scale of 0.99 or less");
  check_error(made("1e9", "1e9", 20), ExitCode::input, "PNG: 20000000000 × 20000000000 pixels");
  CHECK(Pixels(svg_to_png(blank_svg("32767", "1"), 1)).width == 32767);
}

TEST_CASE("png: a scale out of range is refused") {
  for (const double scale : {0.0, -1.0, 0.05, 20.5, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    check_error([scale] { svg_to_png(blank_svg("1", "1"), scale); }, ExitCode::usage,
                "expected 0.1 to 20, as in 2");
  }
  check_error([] { check_png_scale(0); }, ExitCode::usage, "PNG: the scale is 0;");
}

TEST_CASE("png: what is no SVG is refused") {
  for (const std::string text : {"", "no XML", "<svg", "<html/>", "\x89PNG"}) {
    CAPTURE(text);
    check_error([&text] { svg_to_png(text, 1); }, ExitCode::input, "PNG: the SVG cannot be read: ");
  }
  check_error([] { svg_to_png(blank_svg("100%", "100%"), 1); }, ExitCode::input,
              "PNG: the SVG has no width and height in pixels");
  check_error([] { svg_to_png(blank_svg("0", "10"), 1); }, ExitCode::input,
              "PNG: the SVG has no width and height in pixels");
}

}  // namespace
}  // namespace attn
