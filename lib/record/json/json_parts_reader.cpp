#include "record/json/json_parts_reader.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/base64.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Reads base64 of as many float32 values as the product of `sides`; `of` says what they are.
std::vector<float> read_floats(const JsonReader& place, std::initializer_list<std::uint64_t> sides,
                               const std::string& of) {
  const std::string& text = place.string();
  const std::optional<std::uint64_t> count = checked_product(sides);
  std::optional<std::vector<float>> values =
      count ? decode_base64_floats(text, *count) : std::nullopt;
  if (values) return std::move(*values);
  const bool long_enough =
      count && *count <= text.size() && text.size() == (sizeof(float) * *count + 2) / 3 * 4;
  place.fail(long_enough ? "another text" : fmt::format("a text of {} letters", text.size()),
             "base64 of " + of);
}

/// Reads [layer][head][row][column].
HeadVectors read_vector(const JsonReader& place, const MapShape& shape, std::size_t rows,
                        std::size_t columns) {
  return {to_int(shape.layers), to_int(shape.heads), to_int(rows), to_int(columns),
          read_floats(place, {shape.layers, shape.heads, columns, rows},
                      fmt::format("{}, {} and {} of {}", counted(shape.layers, "layer"),
                                  counted(shape.heads, "head"), counted(rows, "row"),
                                  counted(columns, "float")))};
}

bool is_in_block(std::string_view stage) {
  constexpr std::array<std::string_view, 5> stages = {"normed", "hidden", "added", "sum", "output"};
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

void read_block(const JsonReader& place, const ResidualStreamShape& shape,
                ResidualStreamState& step) {
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

std::vector<ResidualStreamState> read_residual_stream(const JsonReader& residual_stream,
                                                      const ResidualStreamShape& shape) {
  std::vector<ResidualStreamState> steps;
  residual_stream.for_each([&](const JsonReader& place) {
    ResidualStreamState& step = steps.emplace_back();
    step.stage = place["stage"].string();
    if (is_in_block(step.stage) || place.find("block")) read_block(place, shape, step);
    step.columns = place["columns"].integer();
    step.values = read_floats(
        place["values"], {shape.rows, to_size(step.columns)},
        fmt::format("{} of {}", counted(shape.rows, "row"), counted(step.columns, "float")));
  });
  return steps;
}

namespace {

/// Reads an object of metrics, each a number or null if it is not defined.
HeadMetrics read_head_metrics(const JsonReader& metrics) {
  HeadMetrics read;
  for (const auto& [key, value] : metrics.object().value().items()) {
    if (!value.is_number() && !value.is_null()) metrics[key].fail("a number or null");
    const std::pair<std::string_view, std::optional<float>*> known[] = {
        {"entropy", &read.entropy},
        {"distance", &read.distance},
        {"diagonality", &read.diagonality},
        {"end_mass", &read.end_mass},
        {"alignment", &read.alignment},
        {"punctuation_mass", &read.punctuation_mass},
        {"read_alignment", &read.read_alignment}};
    for (const auto& [name, metric] : known) {
      if (key == name && value.is_number()) *metric = metrics[key].number();
    }
  }
  return read;
}

/// Reads the words that can be linked; each must have its own index.
std::vector<Word> read_words(const JsonReader& words) {
  std::vector<Word> read;
  words.for_each([&](const JsonReader& place) {
    Word& word = read.emplace_back();
    word.text = place["text"].string();
    word.text_index = place["index"].integer();
  });
  return read;
}

int read_end(const JsonReader& end, const std::set<int>& words) {
  const std::uint64_t number = end.unsigned_integer();
  if (number > std::numeric_limits<int>::max() || !words.contains(to_int(number))) {
    end.fail(fmt::format("{}", number), "the index of a word");
  }
  return to_int(number);
}

std::set<int> numbers_of(const std::vector<Word>& words) {
  std::set<int> numbers;
  for (const Word& word : words) numbers.insert(word.text_index);
  return numbers;
}

}  // namespace

SiteReport read_site_report(const JsonReader& layers, AttentionSite site, const MapShape& shape) {
  SiteReport report{site, to_int(shape.layers), to_int(shape.heads)};
  read_heads(layers, shape,
             [&](const JsonReader& head) { report.metrics.push_back(read_head_metrics(head)); });
  return report;
}

WordAlignment read_alignment(const JsonReader& alignment) {
  WordAlignment read;
  read.from = alignment["from"].string();
  read.source = read_words(alignment["source"]);
  read.target = read_words(alignment["target"]);
  const std::set<int> source = numbers_of(read.source), target = numbers_of(read.target);
  alignment["links"].for_each([&](const JsonReader& link) {
    read.links.push_back({read_end(link["source"], source), read_end(link["target"], target),
                          link["weight"].number()});
  });
  const auto weights = alignment.find("weights");
  if (!weights || weights->array().size() == 0) return read;
  weights->for_each(read.target.size(), "rows, one per target word", [&](const JsonReader& row) {
    row.for_each(read.source.size(), "weights, one per source word", [&](const JsonReader& weight) {
      read.weights.push_back(weight.value().is_null() ? std::numeric_limits<float>::quiet_NaN()
                                                      : weight.number());
    });
  });
  return read;
}

}  // namespace attn
