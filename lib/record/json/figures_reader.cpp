#include "record/json/figures_reader.h"

#include <limits>
#include <set>
#include <utility>

#include "base/error.h"

namespace attn {
namespace {

/// An object of figures, each a number or null where nothing defines it.
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

/// The words that are linked, each of a number of its own.
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
  weights->for_each(read.target.size(), "rows, one a target word", [&](const JsonReader& row) {
    row.for_each(read.source.size(), "weights, one a source word", [&](const JsonReader& weight) {
      read.weights.push_back(weight.value().is_null() ? std::numeric_limits<float>::quiet_NaN()
                                                      : weight.number());
    });
  });
  return read;
}

}  // namespace attn
