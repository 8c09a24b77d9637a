#include "view/terminal/map/map_lists.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "record/attention_maps.h"
#include "view/terminal/map/map_cells.h"
#include "view/terminal/map/map_grid.h"
#include "view/terminal/styled_text.h"

namespace attn {
namespace {

constexpr int widest_name = 14, narrowest_name = 6;
constexpr int weight_columns = 6;  // " 0.56" and a shade

int lines_a_row(const TopWeightsLayout& layout) {
  return (layout.count + layout.entries_per_line - 1) / layout.entries_per_line;
}

constexpr float written_zero = 0.005f;  // smaller weights print as 0.00

/// Returns the columns of the `count` largest weights, without NaN and weights that print as 0.00.
std::vector<int> largest(std::span<const float> weights, int count) {
  std::vector<int> order;
  for (int column = 0; column < to_int(weights.size()); ++column) {
    if (std::abs(weights[to_size(column)]) >= written_zero) order.push_back(column);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::abs(weights[to_size(a)]) > std::abs(weights[to_size(b)]);
  });
  if (to_int(order.size()) > count) order.resize(to_size(count));
  return order;
}

class TopWeightsDrawer {
 public:
  TopWeightsDrawer(const MapAxes& axes, const TopWeightsLayout& layout, ColorMode color)
      : axes_(axes), layout_(layout), color_(color) {}

  TextLine titles(std::span<const ShownMap> maps) const {
    TextLine line = row_start(axes_, layout_.rows, -1);
    for (std::size_t map = 0; map < maps.size(); ++map) {
      line.pad_to(start_of(map));
      line.add(map_title(maps[map], layout_.map_width, color_));
    }
    return line;
  }

  /// Returns one of a row's lines.
  TextLine part(std::span<const ShownMap> maps, int row, int number) const {
    TextLine line = number == 0 ? row_start(axes_, layout_.rows, row) : TextLine{};
    const std::size_t columns = axes_.labels.columns.size();
    for (std::size_t map = 0; map < maps.size(); ++map) {
      line.pad_to(start_of(map));
      const auto weights = std::span(maps[map].weights).subspan(to_size(row) * columns, columns);
      const std::vector<int> order = largest(weights, layout_.count);
      const int first = number * layout_.entries_per_line;
      for (int i = first; i < std::min(to_int(order.size()), first + layout_.entries_per_line);
           ++i) {
        add_entry(line, at(order, i), weights[to_size(at(order, i))]);
      }
    }
    return line;
  }

 private:
  int start_of(std::size_t map) const {
    return layout_.rows.width + to_int(map) * (layout_.map_width + map_gap);
  }

  void add_entry(TextLine& line, int column, float weight) const {
    const std::string& number = at(axes_.column_numbers, column);
    line.pad_to(line.columns + layout_.number - to_int(number.size()));
    line.add(number + " ");
    const int end = line.columns + layout_.name;
    line.add(truncate_to_width(at(axes_.labels.columns, column), layout_.name));
    line.pad_to(end);
    const Cell cell = number_cell(weight, weight_columns, color_);
    line.add_escape(cell.paint);
    line.add(cell.text);
    if (!cell.paint.empty()) line.add_escape("\x1b[0m");
    line.add(" ");
  }

  const MapAxes& axes_;
  const TopWeightsLayout& layout_;
  ColorMode color_;
};

}  // namespace

int TopWeightsLayout::lines(int map_rows) const {
  return 1 + map_rows * lines_a_row(*this);
}

TopWeightsLayout plan_top_weights(const MapAxes& axes, const MapLayoutRequest& room, int count) {
  TopWeightsLayout layout;
  layout.rows = plan_maps(axes, {room.width, 0, room.maps, true}).rows;
  layout.count = std::clamp(count, 1, std::max(1, to_int(axes.labels.columns.size())));
  for (const std::string& number : axes.column_numbers) {
    layout.number = std::max(layout.number, to_int(number.size()));
  }
  for (const std::string& label : axes.labels.columns) {
    layout.name = std::max(layout.name, std::min(widest_name, display_width(label)));
  }
  const int beside_name = layout.number + 1 + weight_columns + 1;
  const int columns = room.width - layout.rows.width;
  // Shorten the names if a row then needs only one line.
  const int room_for_name = (columns + 1) / layout.count - beside_name;
  if (room_for_name >= narrowest_name) layout.name = std::min(layout.name, room_for_name);
  const int entry = layout.name + beside_name;
  layout.entries_per_line = std::clamp((columns + 1) / entry, 1, layout.count);
  layout.map_width = std::max(min_map_width, layout.entries_per_line * entry - 1);
  layout.maps_across = std::max(1, (columns + map_gap) / (layout.map_width + map_gap));
  return layout;
}

std::vector<TextLine> draw_top_weights(const MapAxes& axes, std::span<const ShownMap> maps,
                                       const TopWeightsLayout& layout, ColorMode color) {
  const TopWeightsDrawer drawer(axes, layout, color);
  std::vector<TextLine> lines = {drawer.titles(maps)};
  for (int row = 0; row < to_int(axes.labels.inputs.size()); ++row) {
    for (int part = 0; part < lines_a_row(layout); ++part) {
      lines.push_back(drawer.part(maps, row, part));
    }
  }
  return lines;
}

namespace {

/// Wraps words after `start`; further lines are indented to the first word.
std::string hanging(const std::string& start, const std::vector<std::string>& words, int width) {
  const int indent = display_width(start);
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + truncate_to_width(word, width - indent);
  }
  return start + wrap_words(text, width - indent, indent);
}

/// Returns the tokens of a sentence; repeated tokens are followed by their position.
std::vector<std::string> told_apart(std::span<const std::string> labels) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& label : labels) ++counts[label];
  std::vector<std::string> names(labels.begin(), labels.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[labels[i]] > 1) names[i] += fmt::format("({})", i);
  }
  return names;
}

/// Returns the tokens of a hashing round, with "[1]" before those of a bucket and "|" after a
/// chunk.
std::vector<std::string> round_words(const LshBuckets& order, std::size_t round,
                                     std::span<const std::string> labels) {
  const std::vector<std::int32_t>& tokens = order.order[round];
  std::vector<std::string> words;
  std::int32_t before = -1;
  for (std::size_t place = 0; place < tokens.size(); ++place) {
    const std::int32_t token = tokens[place];
    if (place > 0 && place % to_size(order.chunk) == 0) words.emplace_back("|");
    const std::int32_t bucket = at(order.buckets[round], token);
    if (bucket != before) words.push_back(fmt::format("[{}]", bucket));
    before = bucket;
    words.push_back(labels[to_size(token)]);
  }
  return words;
}

}  // namespace

std::string lsh_bucket_text(const AttentionMaps& maps, const HeadName& head,
                            std::span<const std::string> labels, int width) {
  const std::vector<std::string> names = told_apart(labels);
  const RecordedLshHead* hashed = maps.hashed(*head.layer, *head.head);
  const LshBuckets& order = hashed->order;
  if (order.buckets.empty()) {
    return wrap_words(
        fmt::format("{}: the sentence is one chunk, in which all have met.", to_string(head)),
        width);
  }
  std::string out = wrap_words(
      fmt::format("{}: tokens by [bucket] in each round; | ends a chunk of {}, which sees itself "
                  "and the one before it.",
                  to_string(head), order.chunk),
      width);
  for (std::size_t round = 0; round < order.order.size(); ++round) {
    out += hanging(fmt::format("  round {} ", round), round_words(order, round, names), width);
  }
  const LshRecall found = lsh_recall(maps, *head.layer, *head.head);
  out +=
      "  " + wrap_words(fmt::format("{} of {} found their best key; of full attention's weights on "
                                    "others, {:.2f} belong to keys that were compared.",
                                    found.found_count(), counted(found.of, "row"), found.mass),
                        width - 2, 2);
  return out;
}

}  // namespace attn
