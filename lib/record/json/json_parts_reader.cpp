#include "record/json/json_parts_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/checked.h"
#include "base/error.h"
#include "base/strings/base64.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

/// Base64 of as many float32 as the product of `sides`; `of` says what they are.
std::vector<float> read_floats(const JsonReader& place, std::initializer_list<std::uint64_t> sides,
                               const std::string& of) {
  const std::string& text = place.string();
  const std::optional<std::uint64_t> count = checked_product(sides);
  std::optional<std::vector<float>> values = count ? decode_base64_floats(text, *count) : std::nullopt;
  if (values) return std::move(*values);
  const bool long_enough =
      count && *count <= text.size() && text.size() == (sizeof(float) * *count + 2) / 3 * 4;
  place.fail(long_enough ? "another text" : fmt::format("a text of {} letters", text.size()),
             "base64 of " + of);
}

/// [layer][head][row][column].
HeadVectors read_vector(const JsonReader& place, const MapShape& shape, std::size_t rows,
                        std::size_t columns) {
  return {to_int(shape.layers), to_int(shape.heads), to_int(rows), to_int(columns),
          read_floats(place, {shape.layers, shape.heads, columns, rows},
                      fmt::format("{} layers, {} heads and {} rows of {} floats", shape.layers,
                                  shape.heads, rows, columns))};
}

bool is_in_block(std::string_view stage) {
  constexpr std::array<std::string_view, 5> stages = {"normed", "hidden", "added", "sum", "output"};
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

void read_block(const JsonReader& place, const ResidualStreamShape& shape, ResidualStreamState& step) {
  const JsonReader block = place["block"], layer = place["layer"];
  if (std::find(shape.blocks.begin(), shape.blocks.end(), block.string()) == shape.blocks.end()) {
    block.fail("\"" + excerpt(block.string()) + "\"",
               fmt::format("one of {}", fmt::join(shape.blocks, ", ")));
  }
  step.block = block.string();
  step.layer = to_int(layer.index_below(shape.layers));
}

}  // namespace

AttentionVectors read_vectors(const JsonReader& vectors, const MapShape& shape) {
  AttentionVectors read;
  read.query = read_vector(vectors["query"], shape, shape.queries, shape.head_dim);
  read.key = read_vector(vectors["key"], shape, shape.keys, shape.head_dim);
  read.value = read_vector(vectors["value"], shape, shape.keys, shape.head_dim);
  if (const auto relative_bias = vectors.find("distances"); relative_bias && shape.keys > 0) {
    read.relative_bias = read_vector(*relative_bias, shape, 1, 2 * shape.keys - 1);
  }
  return read;
}

std::vector<ResidualStreamState> read_residual_stream(const JsonReader& residual_stream, const ResidualStreamShape& shape) {
  std::vector<ResidualStreamState> steps;
  residual_stream.for_each([&](const JsonReader& place) {
    ResidualStreamState& step = steps.emplace_back();
    step.stage = place["stage"].string();
    if (is_in_block(step.stage) || place.find("block")) read_block(place, shape, step);
    step.columns = place["columns"].integer();
    step.values = read_floats(place["values"], {shape.rows, to_size(step.columns)},
                              fmt::format("{} rows of {} floats", shape.rows, step.columns));
  });
  return steps;
}

}  // namespace attn
