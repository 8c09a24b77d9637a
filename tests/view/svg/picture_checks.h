// Checks for every picture of attention, whatever the record contains.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/svg/expat_xml.h"
#include "view/svg/svg_text.h"

namespace attn::test {

/// Returns the font size of a text from its classes and the picture's style.
inline double font_size_of(const Document& document, int index) {
  const Node& text = document.at(index);
  if (text.has_class("title")) return 18;
  if (text.has_class("sentence")) return 14;
  if (text.has_class("heading")) return 13;
  if (text.has_class("small") || text.has_class("label-11")) return 11;
  if (text.has_class("label-10")) return 10;
  if (text.has_class("label-9")) return 9;
  if (text.has_class("value")) {
    for (int at = text.parent; at >= 0; at = document.at(at).parent) {
      if (document.at(at).has_class("numbers-10")) return 10;
      if (document.at(at).has_class("numbers-8")) return 8.5;
    }
  }
  return 12;
}

/// Returns the approximate four corners of a text in the picture.
inline std::vector<Point> corners_of(const Document& document, int index) {
  const Node& text = document.at(index);
  const double size = font_size_of(document, index);
  const bool bold = text.has_class("title") || text.has_class("heading");
  const double width = text_width(text.text, size, bold ? FontWeight::bold : FontWeight::regular);
  const double x = text.number("x");
  const double y = text.number("y");
  const double left = text.has_class("end")                                 ? x - width
                      : text.has_class("middle") || text.has_class("value") ? x - width / 2
                                                                            : x;
  std::vector<Point> corners;
  for (const double dx : {0.0, width}) {
    for (const double dy : {-0.78 * size, 0.24 * size}) {
      corners.push_back(document.place(index, {left + dx, y + dy}));
    }
  }
  return corners;
}

/// Checks a picture: well-formed by expat, nothing that runs or loads, one style element, no
/// colors outside of it, and every text and rectangle inside the picture.
inline Document checked_picture(const std::string& svg) {
  CHECK(is_valid_utf8(svg));
  Document document(svg);
  CHECK(document.nodes[0].name == "svg");
  CHECK(document.find("style").size() == 1);
  const double width = document.nodes[0].number("width");
  const double height = document.nodes[0].number("height");
  CHECK(document.nodes[0].get("viewBox") ==
        "0 0 " + document.nodes[0].get("width") + " " + document.nodes[0].get("height"));
  const auto inside = [&](Point point) {
    return point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height;
  };
  int outside = 0;
  for (std::size_t i = 0; i < document.nodes.size(); ++i) {
    const Node& node = document.nodes[i];
    const int index = to_int(i);
    for (const char* banned : {"script", "image", "foreignObject", "a", "use", "animate"}) {
      CHECK(node.name != banned);
    }
    for (const auto& [key, value] : node.attributes) {
      CHECK(!key.starts_with("on"));
      for (const char* inline_style : {"style", "fill", "stroke", "href", "font-size"}) {
        CHECK(key != inline_style);
      }
    }
    if (node.name == "text") {
      CHECK(node.text == printable(node.text));
      for (const Point& corner : corners_of(document, index)) {
        if (!inside(corner)) {
          ++outside;
          MESSAGE("outside: ", node.text, " at ", corner.x, ", ", corner.y);
        }
      }
    }
    if (node.name == "rect" && !node.get("x").empty()) {
      const Point a = document.place(index, {node.number("x"), node.number("y")});
      const Point b = document.place(index, {node.number("x") + node.number("width"),
                                             node.number("y") + node.number("height")});
      if (!inside(a) || !inside(b)) ++outside;
    }
  }
  CHECK(outside == 0);
  return document;
}

/// Reads a weight as a program would: the shortest decimal, or NaN and infinities by name.
inline float read_weight(const std::string& text) {
  char* end = nullptr;
  const float value = std::strtof(text.c_str(), &end);
  REQUIRE_MESSAGE((!text.empty() && *end == '\0'), "no weight: ", text);
  return value;
}

/// True if two floats are the same number, or both NaN.
inline bool same_float(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace attn::test
