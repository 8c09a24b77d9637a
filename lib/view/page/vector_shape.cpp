#include "view/page/vector_shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/checked.h"
#include "base/error.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

/// Base64 of as many float32 as the product of `sides`; `of` says what they are.
void check_float_text(const JsonPlace& place, std::initializer_list<std::size_t> sides,
                      const std::string& of) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string_view text = place.text();
  std::optional<std::uint64_t> bytes = sizeof(float);
  for (const std::size_t side : sides) {
    if (bytes) bytes = checked_multiply(*bytes, std::uint64_t{side});
  }
  // Four letters hold three bytes; "=" fills up the last four.
  const std::size_t fill = bytes ? (3 - *bytes % 3) % 3 : 0;
  if (!bytes || text.size() % 4 != 0 || text.size() / 4 != *bytes / 3 + (*bytes % 3 > 0)) {
    place.fail(fmt::format("a text of {} letters", text.size()), "base64 of " + of);
  }
  const std::string_view letters = text.substr(0, text.size() - fill);
  if (letters.find_first_not_of(kDigits) != letters.npos ||
      text.substr(letters.size()).find_first_not_of('=') != text.npos) {
    place.fail("another text", "base64 of " + of);
  }
}

/// Of [layer][head][row][head_dim].
void check_vector(const JsonPlace& place, const MapShape& shape, std::size_t rows) {
  check_float_text(place, {shape.layers, shape.heads, shape.head_dim, rows},
                   fmt::format("{} layers, {} heads and {} rows of {} floats", shape.layers,
                               shape.heads, rows, shape.head_dim));
}

bool is_in_block(std::string_view stage) {
  constexpr std::array<std::string_view, 5> stages = {"normed", "hidden", "added", "sum", "output"};
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

void check_block(const JsonPlace& step, const WayShape& shape) {
  const JsonPlace block = step["block"], layer = step["layer"];
  if (std::find(shape.blocks.begin(), shape.blocks.end(), block.text()) == shape.blocks.end()) {
    block.fail("\"" + excerpt(block.text()) + "\"",
               fmt::format("one of {}", fmt::join(shape.blocks, ", ")));
  }
  const std::uint64_t number = layer.whole();
  if (number >= shape.layers) {
    layer.fail(fmt::format("{}", number), fmt::format("a number below {}", shape.layers));
  }
}

}  // namespace

void check_vectors(const JsonPlace& vectors, const MapShape& shape) {
  check_vector(vectors["query"], shape, shape.queries);
  check_vector(vectors["key"], shape, shape.keys);
  check_vector(vectors["value"], shape, shape.keys);
}

void check_way(const JsonPlace& way, const WayShape& shape) {
  for (std::size_t i = 0; i < way.array().size(); ++i) {
    const JsonPlace step = way[i];
    if (is_in_block(step["stage"].text()) || step.find("block")) check_block(step, shape);
    const std::uint64_t columns = step["columns"].whole();
    check_float_text(step["values"], {shape.rows, columns},
                     fmt::format("{} rows of {} floats", shape.rows, columns));
  }
}

}  // namespace attn
