#include "view/terminal/map/map_plan.h"

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "record/words.h"

namespace attn {
namespace {

std::vector<std::string> numbers_to(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(fmt::format("{}", i));
  return numbers;
}

void add_words(const std::vector<Word>& words, std::vector<std::string>& labels,
               std::vector<std::string>& numbers) {
  const std::vector<Word> counted = text_words(words);
  auto next = counted.begin();
  for (const Word& word : words) {
    labels.push_back(printable(word.text));
    const bool counts = next != counted.end() && next->first == word.first;
    numbers.push_back(counts ? fmt::format("{}", (next++)->text_index) : "");
  }
}

/// Mixtures have no names, only numbers.
void number_mixtures(MapAxes& axes, int count) {
  axes.labels.columns.assign(to_size(count), "");
  axes.column_numbers = numbers_to(to_size(count));
}

}  // namespace

MapAxes map_axes(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown) {
  MapAxes axes;
  const AttentionMaps* maps = find_maps(record, shown.site, hypothesis);
  const bool mixed = maps != nullptr && maps->has_projected_keys();
  if (!shown.by_words) {
    axes.labels = map_labels(record, shown.site, hypothesis);
    axes.row_numbers = numbers_to(axes.labels.inputs.size());
    axes.column_numbers = numbers_to(axes.labels.columns.size());
    if (mixed) number_mixtures(axes, maps->keys);
    return axes;
  }
  axes.labels.causal = shown.site == AttentionSite::decoder_self;
  add_words(shown.rows, axes.labels.inputs, axes.row_numbers);
  add_words(shown.columns, axes.labels.columns, axes.column_numbers);
  if (shown.site != AttentionSite::encoder_self) axes.row_title = "writes";
  if (mixed) number_mixtures(axes, maps->keys);
  return axes;
}

}  // namespace attn
