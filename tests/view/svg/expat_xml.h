// Reads XML with expat, which is not the project's own parser.
#pragma once

#include <doctest/doctest.h>
#include <expat.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"

namespace attn::test {

struct Node {
  int parent = -1;
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< text directly inside

  std::string get(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
  double number(const std::string& key) const {
    const std::string value = get(key);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    REQUIRE_MESSAGE((!value.empty() && *end == '\0'), name, " ", key, "=", value);
    return number;
  }
  bool has_class(const std::string& wanted) const {
    return (" " + get("class") + " ").find(" " + wanted + " ") != std::string::npos;
  }
};

struct Point {
  double x = 0;
  double y = 0;
};

/// A document, with elements in the order in which they begin.
class Document {
 public:
  explicit Document(std::string_view xml) {
    XML_Parser parser = XML_ParserCreate(nullptr);
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, begin, end);
    XML_SetCharacterDataHandler(parser, characters);
    const bool good = XML_Parse(parser, xml.data(), to_int(xml.size()), XML_TRUE) == XML_STATUS_OK;
    const std::string message = good ? "" : XML_ErrorString(XML_GetErrorCode(parser));
    const auto line = XML_GetCurrentLineNumber(parser);
    XML_ParserFree(parser);
    REQUIRE_MESSAGE(good, message, " in line ", line);
    REQUIRE(!nodes.empty());
  }

  std::vector<Node> nodes;

  std::vector<int> find(const std::string& name, const std::string& css_class = "") const {
    std::vector<int> found;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].name != name) continue;
      if (css_class.empty() || nodes[i].has_class(css_class)) found.push_back(to_int(i));
    }
    return found;
  }
  const Node& at(int index) const { return attn::at(nodes, index); }
  bool is_inside(int index, int ancestor) const {
    while (index >= 0 && index != ancestor) index = at(index).parent;
    return index >= 0;
  }
  /// Returns the children of an element with this name.
  std::vector<int> children(int parent, const std::string& name) const {
    std::vector<int> found;
    for (const int index : find(name)) {
      if (at(index).parent == parent) found.push_back(index);
    }
    return found;
  }
  std::string child_text(int parent, const std::string& name) const {
    const std::vector<int> found = children(parent, name);
    return found.empty() ? "" : at(found[0]).text;
  }
  /// Returns all readable text, one line per text element.
  std::string texts() const {
    std::string all;
    for (const int index : find("text")) all += at(index).text + "\n";
    return all;
  }

  /// Returns a point of an element in pixels of the picture, with its own and all enclosing
  /// transforms.
  Point place(int index, Point point) const {
    for (; index >= 0; index = at(index).parent) point = transformed(at(index), point);
    return point;
  }

 private:
  static Point transformed(const Node& node, Point point) {
    static const std::regex call(R"((translate|rotate|scale)\(([^)]*)\))");
    const std::string transform = node.get("transform");
    std::smatch match;
    if (!std::regex_match(transform, match, call)) {
      REQUIRE(transform.empty());
      return point;
    }
    double values[3] = {0, 0, 0};
    const char* at = nullptr;
    const std::string numbers = match[2];
    at = numbers.c_str();
    for (double& value : values) {
      char* end = nullptr;
      value = std::strtod(at, &end);
      at = end;
    }
    if (match[1] == "translate") return {point.x + values[0], point.y + values[1]};
    if (match[1] == "scale") return {point.x * values[0], point.y * values[0]};
    const double angle = values[0] * std::acos(-1.0) / 180;
    const Point from{point.x - values[1], point.y - values[2]};
    return {values[1] + from.x * std::cos(angle) - from.y * std::sin(angle),
            values[2] + from.x * std::sin(angle) + from.y * std::cos(angle)};
  }

  static void begin(void* self, const XML_Char* name, const XML_Char** attributes) {
    auto& document = *static_cast<Document*>(self);
    Node node;
    node.parent = document.open_.empty() ? -1 : document.open_.back();
    node.name = name;
    for (; *attributes != nullptr; attributes += 2) node.attributes[attributes[0]] = attributes[1];
    document.open_.push_back(to_int(document.nodes.size()));
    document.nodes.push_back(std::move(node));
  }
  static void end(void* self, const XML_Char*) { static_cast<Document*>(self)->open_.pop_back(); }
  static void characters(void* self, const XML_Char* text, int length) {
    auto& document = *static_cast<Document*>(self);
    attn::at(document.nodes, document.open_.back()).text.append(text, to_size(length));
  }

  std::vector<int> open_;
};

}  // namespace attn::test
