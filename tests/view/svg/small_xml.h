// Strictly reads the XML that the views write: malformed XML fails the test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings/utf8.h"

namespace attn::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< text directly inside, with entities resolved

  double number(const std::string& key) const {
    REQUIRE_MESSAGE(attributes.contains(key), name, " without ", key);
    std::size_t used = 0;
    const double value = std::stod(attributes.at(key), &used);
    REQUIRE(used == attributes.at(key).size());
    return value;
  }
  std::string style() const { return attributes.contains("class") ? attributes.at("class") : ""; }
};

class SmallXml {
 public:
  explicit SmallXml(std::string_view text) : rest_(text) {
    constexpr std::string_view kStart = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    REQUIRE(rest_.starts_with(kStart));
    rest_.remove_prefix(kStart.size());
    REQUIRE(std::none_of(rest_.begin(), rest_.end(),
                         [](char c) { return byte_value(c) < 0x20 && c != '\n'; }));
    read_element();
    REQUIRE(rest_ == "\n");
  }

  std::vector<Element> elements;  ///< in the order in which they begin

 private:
  void expect(std::string_view text) {
    REQUIRE_MESSAGE(rest_.starts_with(text), "expected ", text, " at ", rest_.substr(0, 60));
    rest_.remove_prefix(text.size());
  }

  std::string take_until(std::string_view stops) {
    const std::size_t end = rest_.find_first_of(stops);
    REQUIRE(end != std::string_view::npos);
    const std::string taken(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return taken;
  }

  static std::string resolved(std::string_view text) {
    static const std::map<std::string_view, char> kEntities = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
    std::string out;
    while (!text.empty()) {
      if (text[0] != '&') {
        if (text[0] == '>') FAIL("a bare > in ", text);
        out += text[0];
        text.remove_prefix(1);
        continue;
      }
      const std::string_view entity = text.substr(0, text.find(';') + 1);
      REQUIRE_MESSAGE(kEntities.contains(entity), "entity in ", text);
      out += kEntities.at(entity);
      text.remove_prefix(entity.size());
    }
    return out;
  }

  void read_element() {
    expect("<");
    const std::size_t index = elements.size();
    elements.emplace_back();
    const std::string name = take_until(" >/");
    elements[index].name = name;
    while (rest_.starts_with(" ")) {
      expect(" ");
      const std::string key = take_until("= >/");
      expect("=\"");
      const std::string value = take_until("\"<");
      expect("\"");
      REQUIRE(elements[index].attributes.emplace(key, resolved(value)).second);
    }
    if (rest_.starts_with("/>")) return expect("/>");
    expect(">");
    while (!rest_.starts_with("</")) {
      if (rest_.starts_with("<")) {
        read_element();
      } else {
        elements[index].text += resolved(take_until("<"));
      }
    }
    expect("</" + name + ">");
  }

  std::string_view rest_;
};

inline std::vector<Element> parse_xml(std::string_view text) {
  return SmallXml(text).elements;
}

}  // namespace attn::test
