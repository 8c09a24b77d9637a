#include "analysis/map_selection.h"

#include <algorithm>
#include <array>

#include "analysis/alignment.h"
#include "analysis/head_statistics.h"
#include "analysis/weight_matrix.h"
#include "base/at.h"
#include "base/error.h"
#include "record/attention_record.h"
#include "record/words.h"

namespace attn {
namespace {

/// Returns the head that the hypothesis was aligned by.
std::optional<HeadIndex> aligning_head(const HypothesisRecord& hypothesis) {
  if (!hypothesis.alignment) return std::nullopt;
  const AlignmentMethod choice = parse_alignment_method(hypothesis.alignment->from);
  if (choice.from != AlignmentMethod::Source::head) return std::nullopt;
  return choice.place;
}

std::optional<HeadIndex> best_place(const AttentionRecord& record, std::size_t hypothesis,
                                    std::optional<int> layer) {
  if (hypothesis >= record.hypotheses.size()) return std::nullopt;
  if (!layer) {
    if (const auto place = aligning_head(record.hypotheses[hypothesis])) return place;
  }
  if (record.hypotheses[hypothesis].cross.weights.empty()) return std::nullopt;
  HeadStatistics statistics;
  statistics.add(record, hypothesis);
  for (const HeadIndex place : rank_by_alignment(statistics.report().cross)) {
    if (layer.value_or(place.layer) == place.layer) return place;
  }
  return std::nullopt;
}

/// Returns the heads of the default selection: the last layer's, and for cross-attention the best
/// head first.
std::vector<HeadName> default_heads(AttentionSite site, const AttentionMaps& maps,
                                    const std::optional<HeadIndex>& best) {
  std::vector<HeadName> names;
  if (site == AttentionSite::cross && best) names.push_back({site, best->layer, best->head});
  for (int head = 0; head < maps.heads; ++head) {
    const HeadName name{site, maps.layers - 1, head};
    if (names.empty() || names.front() != name) names.push_back(name);
  }
  return names;
}

/// Returns the named heads and means in the model's order, a layer's mean after its heads.
std::vector<HeadName> named_heads(AttentionSite site, const AttentionMaps& maps,
                                  const MapSelection& selection) {
  const auto shown = [&](int layer, int head) {
    if (selection.all) return true;
    return std::any_of(selection.items.begin(), selection.items.end(), [&](const ShowItem& item) {
      return item.site == site && item.pick == HeadSelector::all &&
             item.layer.value_or(layer) == layer && item.head.value_or(head) == head;
    });
  };
  const auto named = [&](const HeadName& name) {
    return std::find(selection.items.begin(), selection.items.end(), name) != selection.items.end();
  };
  std::vector<HeadName> names;
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      if (shown(layer, head)) names.push_back({site, layer, head});
    }
    const HeadName mean{site, layer, {}, HeadSelector::mean};
    if (named(mean)) names.push_back(mean);
  }
  const HeadName mean{site, {}, {}, HeadSelector::mean};
  if (named(mean)) names.push_back(mean);
  return names;
}

const AttentionMaps* maps_of(const AttentionRecord& record, AttentionSite site,
                             std::size_t hypothesis) {
  if (site == AttentionSite::encoder_self) return &record.encoder_self;
  if (hypothesis >= record.hypotheses.size()) return nullptr;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  return site == AttentionSite::cross ? &found.cross : &found.decoder_self;
}

/// Returns the words of the decoder's input: the start symbol, and each written word where it is
/// read.
std::vector<Word> read_words(const std::vector<Word>& written, int rows) {
  std::vector<Word> words = {{"<pad>", 0, 1, WordType::special, -1}};
  for (const Word& word : by_reading_step(written, rows)) words.push_back(word);
  return words;
}

/// True if the sentence consists of special symbols only.
bool has_no_words(const AttentionRecord& record) {
  const std::vector<Word> words = words_in_record(record, record.hypotheses.size()).source;
  return std::all_of(words.begin(), words.end(),
                     [](const Word& word) { return word.type == WordType::special; });
}

/// Returns one entry per mixture: mixtures are not merged to words.
std::vector<Word> projected_key_words(int count) {
  std::vector<Word> words;
  for (int i = 0; i < count; ++i) words.push_back({"", i, 1, WordType::special, -1});
  return words;
}

/// Sets the rows and columns of `shown` to words.
void set_words(ShownMaps& shown, const AttentionRecord& record, std::size_t hypothesis,
               const AttentionMaps& maps) {
  const RecordWords words = words_in_record(record, hypothesis);
  shown.by_words = true;
  if (shown.site == AttentionSite::encoder_self) {
    shown.rows = shown.columns = words.source;
    if (maps.has_projected_keys()) shown.columns = projected_key_words(maps.keys);
    return;
  }
  shown.rows = words.target;
  shown.columns = words.source;
  if (shown.site == AttentionSite::decoder_self) {
    shown.columns = read_words(words.target, maps.keys);
    const TokenSequence& input = record.hypotheses[hypothesis].decoder_input;
    if (!input.tokens.empty()) shown.columns.front().text = input.tokens.front();
  }
}

std::vector<float> weights_of(const HeadName& name, const AttentionMaps& maps,
                              const ShownMaps& shown) {
  WeightMatrix weights;
  if (name.pick == HeadSelector::mean) {
    weights = name.layer ? mean_of_layer(maps, *name.layer) : mean_of_heads(maps);
  } else {
    weights = head_weights(maps, *name.layer, *name.head);
  }
  if (shown.by_words) weights = merge_to_words(weights, shown.rows, shown.columns);
  return {weights.values.begin(), weights.values.end()};
}

/// Adds the cells that a pattern left out; a word's cell is left out if those of all its tokens
/// are.
void add_pattern(ShownMap& map, const AttentionMaps& maps, const ShownMaps& shown) {
  if (!maps.seen) return;
  map.uncomputed = maps.uncomputed(map.name.layer, map.name.head);
  WeightMatrix own(maps.queries, 1);
  int heads = 0;
  const std::vector<float>& all = maps.seen->non_token_weights.weights;
  for (int place = 0; !all.empty() && place < maps.layers * maps.heads; ++place) {
    if (map.name.layer.value_or(place / maps.heads) != place / maps.heads) continue;
    if (map.name.head.value_or(place % maps.heads) != place % maps.heads) continue;
    ++heads;
    for (int row = 0; row < maps.queries; ++row) {
      own.at(row, 0) += static_cast<double>(at(all, place * maps.queries + row));
    }
  }
  for (double& sum : own.values) sum /= std::max(1, heads);
  if (shown.by_words) {
    WeightMatrix computed(maps.queries, maps.keys);
    for (std::size_t i = 0; i < map.uncomputed.size(); ++i)
      computed.values[i] = 1 - map.uncomputed[i];
    map.uncomputed.clear();
    for (const double seen : merge_to_words(computed, shown.rows, shown.columns).values) {
      map.uncomputed.push_back(seen > 0 ? 0 : 1);
    }
    own = merge_to_words(own, shown.rows, {{"", 0, 1, WordType::word, -1}});
  }
  if (heads == 0) return;
  map.non_token_weights = {maps.seen->non_token_weights.keys,
                           {own.values.begin(), own.values.end()}};
}

/// Builds a map of values other than the model's weights, by tokens or words like `shown`.
ShownMap map_beside(const HeadName& name, MapPart part, WeightMatrix matrix,
                    const ShownMaps& shown) {
  if (shown.by_words) matrix = merge_to_words(matrix, shown.rows, shown.columns);
  ShownMap map{name, false, {matrix.values.begin(), matrix.values.end()}};
  map.part = part;
  return map;
}

/// Returns the mean of the exact weights of the heads that a name selects.
WeightMatrix exact_of(const HeadName& name, const AttentionMaps& maps) {
  WeightMatrix mean(maps.queries, maps.keys);
  int heads = 0;
  for (int place = 0; place < maps.layers * maps.heads; ++place) {
    const int layer = place / maps.heads, head = place % maps.heads;
    if (name.layer.value_or(layer) != layer || name.head.value_or(head) != head) continue;
    ++heads;
    const std::span<const float> exact = maps.exact(layer, head);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      mean.values[i] += static_cast<double>(exact[i]);
    }
  }
  for (double& sum : mean.values) sum /= std::max(1, heads);
  return mean;
}

/// Adds the exact weights and the difference after a performer's map.
void add_exact(ShownMaps& shown, const AttentionMaps& maps) {
  if (!maps.approximation || maps.approximation->exact.empty()) return;
  const ShownMap& estimated = shown.maps.back();
  ShownMap exact =
      map_beside(estimated.name, MapPart::exact, exact_of(estimated.name, maps), shown);
  ShownMap difference{estimated.name, false, {}};
  difference.part = MapPart::difference;
  for (std::size_t i = 0; i < exact.weights.size(); ++i) {
    difference.weights.push_back(estimated.weights[i] - exact.weights[i]);
  }
  shown.maps.push_back(std::move(exact));
  shown.maps.push_back(std::move(difference));
}

/// Adds E and F after a linformer's maps of a layer. A word gets the sum over its tokens.
void add_projections(ShownMaps& shown, const AttentionMaps& maps, int layer) {
  const HeadName name{shown.site, layer, {}, HeadSelector::mean};
  for (const MapPart part : {MapPart::projected_keys, MapPart::projected_values}) {
    const auto mixing = maps.projection(layer, part == MapPart::projected_values);
    WeightMatrix matrix(maps.queries, maps.keys);
    std::copy(mixing.begin(), mixing.end(), matrix.values.begin());
    ShownMap map = map_beside(name, part, std::move(matrix), shown);
    for (std::size_t i = 0; shown.by_words && i < map.weights.size(); ++i) {
      map.weights[i] *= static_cast<float>(shown.rows[i / shown.columns.size()].count);
    }
    shown.maps.push_back(std::move(map));
  }
}

}  // namespace

HeadName resolve_best(const HeadName& name, const AttentionRecord& record, std::size_t hypothesis) {
  if (name.pick != HeadSelector::best) return name;
  const int last = record.model.stack(name.site).layers - 1;
  const HeadIndex place =
      best_place(record, hypothesis, name.layer).value_or(HeadIndex{name.layer.value_or(last), 0});
  return {name.site, place.layer, place.head};
}

std::vector<float> mean_weights(const AttentionMaps& maps, std::optional<int> layer) {
  const WeightMatrix mean = layer ? mean_of_layer(maps, *layer) : mean_of_heads(maps);
  return {mean.values.begin(), mean.values.end()};
}

std::vector<float> mean_exact_weights(const AttentionMaps& maps, std::optional<int> layer) {
  if (!maps.approximation || maps.approximation->exact.empty()) return {};
  const WeightMatrix mean = exact_of({AttentionSite::encoder_self, layer}, maps);
  return {mean.values.begin(), mean.values.end()};
}

std::vector<ShownMaps> select_maps(const AttentionRecord& record, std::size_t hypothesis,
                                   const MapSelection& selection, bool by_words) {
  check_map_shapes(record, hypothesis);
  if (has_no_words(record)) return {};
  constexpr std::array named_order = attention_sites;
  constexpr std::array default_order = {AttentionSite::cross, AttentionSite::encoder_self,
                                        AttentionSite::decoder_self};
  MapSelection named = selection;
  for (ShowItem& item : named.items) item = resolve_best(item, record, hypothesis);
  std::vector<ShownMaps> all;
  const std::optional<HeadIndex> best = best_place(record, hypothesis, std::nullopt);
  for (const AttentionSite site : selection.last_layers ? default_order : named_order) {
    const AttentionMaps* maps = maps_of(record, site, hypothesis);
    if (maps == nullptr || maps->weights.empty() || maps->sparse()) continue;
    ShownMaps shown{site, false, {}, {}, {}};
    if (by_words) set_words(shown, record, hypothesis, *maps);
    const std::vector<HeadName> names =
        selection.last_layers ? default_heads(site, *maps, best) : named_heads(site, *maps, named);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const HeadName& name = names[i];
      const bool is_best = site == AttentionSite::cross && best && name.layer == best->layer &&
                           name.head == best->head;
      shown.maps.push_back({name, is_best, weights_of(name, *maps, shown)});
      add_pattern(shown.maps.back(), *maps, shown);
      add_exact(shown, *maps);
      const bool last_of_layer = i + 1 == names.size() || names[i + 1].layer != name.layer;
      if (maps->has_projected_keys() && name.layer && last_of_layer)
        add_projections(shown, *maps, *name.layer);
    }
    if (!shown.maps.empty()) all.push_back(std::move(shown));
  }
  return all;
}

std::vector<ShownMaps> select_measured_maps(const AttentionRecord& record, std::size_t hypothesis,
                                            const MeasuredItem& item, bool by_words) {
  check_map_shapes(record, hypothesis);
  const AttentionMaps* maps = maps_of(record, item.name.site, hypothesis);
  if (has_no_words(record) || maps == nullptr || maps->weights.empty()) return {};
  ShownMaps shown{item.name.site, false, {}, {}, {}};
  if (by_words) set_words(shown, record, hypothesis, *maps);
  for (int layer = 0; layer < maps->layers; ++layer) {
    if (item.name.layer.value_or(layer) != layer) continue;
    for (int head = 0; head < maps->heads; ++head) {
      if (item.name.head.value_or(head) != head) continue;
      ShownMap map{{item.name.site, layer, {}},
                   false,
                   weights_of({item.name.site, layer, head}, *maps, shown)};
      if (item.per_head()) map.name.head = head;
      map.measure = item.measure;
      shown.maps.push_back(std::move(map));
    }
  }
  return {std::move(shown)};
}

namespace {

std::vector<std::string> texts_of(const std::vector<Word>& words) {
  std::vector<std::string> texts;
  for (const Word& word : words) texts.push_back(word.text);
  return texts;
}

/// Merges all heads of a site; `axes` holds the words of its rows and columns.
AttentionMaps merge_maps(const AttentionMaps& maps, const ShownMaps& axes) {
  AttentionMaps merged{
      maps.layers, maps.heads, to_int(axes.rows.size()), to_int(axes.columns.size()), {}};
  if (maps.weights.empty() || maps.sparse() || maps.has_projected_keys()) {
    return {0, 0, merged.queries, merged.keys, {}};
  }
  for (int place = 0; place < maps.layers * maps.heads; ++place) {
    const WeightMatrix words = merge_to_words(
        head_weights(maps, place / maps.heads, place % maps.heads), axes.rows, axes.columns);
    merged.weights.insert(merged.weights.end(), words.values.begin(), words.values.end());
  }
  return merged;
}

}  // namespace

AttentionRecord merge_record_to_words(const AttentionRecord& record) {
  AttentionRecord merged;
  merged.model = record.model;
  merged.changes = record.changes;
  merged.part = record.part;
  merged.source_text = record.source_text;
  ShownMaps encoder{AttentionSite::encoder_self, false, {}, {}, {}};
  set_words(encoder, record, 0, record.encoder_self);
  merged.source.tokens = texts_of(encoder.rows);
  merged.encoder_self = merge_maps(record.encoder_self, encoder);
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    const HypothesisRecord& found = record.hypotheses[i];
    HypothesisRecord& words = merged.hypotheses.emplace_back();
    words.text = found.text;
    words.score = found.score;
    ShownMaps cross{AttentionSite::cross, false, {}, {}, {}};
    ShownMaps decoder{AttentionSite::decoder_self, false, {}, {}, {}};
    set_words(cross, record, i, found.cross);
    set_words(decoder, record, i, found.decoder_self);
    words.produced.tokens = texts_of(cross.rows);
    words.decoder_input.tokens = texts_of(decoder.columns);
    words.cross = merge_maps(found.cross, cross);
    words.decoder_self = merge_maps(found.decoder_self, decoder);
  }
  return merged;
}

MapSelection parse_map_selection(const std::vector<std::string>& arguments) {
  MapSelection selection;
  if (arguments.empty()) return selection;
  selection.last_layers = false;
  bool none = false;
  for (const std::string& argument : arguments) {
    if (argument == "all") {
      selection.all = true;
    } else if (argument == "none") {
      none = true;
    } else if (argument.find('@') != argument.npos) {
      selection.measured.push_back(parse_measured_item(argument));
    } else {
      selection.items.push_back(parse_head_name(argument, ", or the word all or none"));
    }
  }
  if (none && (selection.all || !selection.items.empty() || !selection.measured.empty())) {
    throw UsageError("none: you also named other maps; use none alone, or leave it out");
  }
  return selection;
}

void check_map_selection(const MapSelection& selection, const ModelSummary& model) {
  for (const ShowItem& item : selection.items) {
    check_head(to_string(item), item.layer, item.head, model.stack(item.site));
  }
  for (const MeasuredItem& item : selection.measured) {
    check_head(to_string(item), item.name.layer, item.name.head, model.stack(item.name.site));
  }
}

}  // namespace attn
