// Reads tables by RFC 4180, without the code under test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings/utf8.h"

namespace attn::test {

using Row = std::vector<std::string>;

/// Follows RFC 4180 strictly: CR LF ends a record, quotes occur only in quoted fields and are
/// doubled there, and all rows have the same length.
inline std::vector<Row> read_csv(std::string_view text) {
  std::vector<Row> rows;
  while (!text.empty()) {
    Row row;
    for (bool more = true; more;) {
      std::string field;
      if (text.starts_with('"')) {
        text.remove_prefix(1);
        for (;;) {
          const std::size_t quote = text.find('"');
          REQUIRE(quote != std::string_view::npos);
          field += text.substr(0, quote);
          text.remove_prefix(quote + 1);
          if (!text.starts_with('"')) break;
          field += '"';
          text.remove_prefix(1);
        }
      } else {
        const std::size_t end = std::min(text.find_first_of(",\r\n\""), text.size());
        field = text.substr(0, end);
        text.remove_prefix(end);
      }
      row.push_back(field);
      more = text.starts_with(',');
      REQUIRE((more || text.starts_with("\r\n")));
      text.remove_prefix(more ? 1 : 2);
    }
    if (!rows.empty()) REQUIRE(row.size() == rows[0].size());
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Removes the guard as docs/pictures.md describes.
inline std::string unguarded(const std::string& field) {
  const std::size_t first = field.find_first_not_of('\'');
  if (first == 0 || first == std::string::npos) return field;
  const auto begin = byte_value(field[first]);
  const bool guard =
      (begin < 0x20 || std::string_view("=+-@").find(field[first]) != std::string_view::npos) &&
      first + 1 < field.size();
  return guard ? field.substr(1) : field;
}

}  // namespace attn::test
