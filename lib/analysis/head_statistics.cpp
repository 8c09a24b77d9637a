#include "analysis/head_statistics.h"

#include <algorithm>
#include <cmath>

#include "analysis/alignment.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "record/attention_record.h"

namespace attn {
namespace {

std::vector<bool> equal_to(const std::vector<std::string>& tokens, const std::string& symbol) {
  std::vector<bool> equal;
  for (const std::string& token : tokens) equal.push_back(token == symbol);
  return equal;
}

std::vector<bool> punctuation_of(const std::vector<std::string>& tokens) {
  std::vector<bool> found;
  for (const std::string& token : tokens) found.push_back(is_punctuation(token));
  return found;
}

bool has_text(const std::vector<Word>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const Word& word) { return word.type != WordType::special; });
}

/// True for a row of zeros, which softmax never gives: an experiment has switched the head off.
bool is_off(std::span<const float> weights) {
  return std::all_of(weights.begin(), weights.end(), [](float w) { return w == 0; });
}

/// Returns a weight's contribution to the entropy of its row, in nats.
double entropy_of(double weight) {
  return weight > 0 ? -weight * std::log(weight) : 0;
}

/// Returns the distance of key j from the position of query i, in keys.
double distance_of(int i, int j, const AttentionMaps& maps) {
  if (maps.queries == maps.keys) return std::abs(i - j);
  return std::abs((i + 0.5) * maps.keys / maps.queries - (j + 0.5));
}

void add_to(RoundTripProbability& sum, const RoundTripProbability& more) {
  sum.expected_returns += more.expected_returns;
  sum.words += more.words;
}

std::optional<float> mean(double sum, std::size_t count) {
  if (count == 0) return std::nullopt;
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

void check_gold(const GoldAlignment& gold, const RecordWords& words, const std::string& where) {
  const auto count = [](const std::vector<Word>& side) {
    int highest = -1;
    for (const Word& word : side) highest = std::max(highest, word.text_index);
    return highest + 1;
  };
  const auto check = [&](const char* side, int index, int most) {
    if (index >= most) {
      throw InputError("{}: a link names {} word {}, but the sentence has {}, counted from 0",
                       printable(where), side, index, most);
    }
  };
  for (const GoldLink& link : gold) {
    check("source", link.source, count(words.source));
    check("target", link.target, count(words.target));
  }
}

RoundTripProbability round_trip_probability(const WeightMatrix& weights) {
  RoundTripProbability chance;
  const auto width = to_size(weights.columns);
  std::vector<double> sums(width);     // Σ_t A per source word
  std::vector<double> squares(width);  // Σ_t A² per source word; Σ_t A² / Σ_t A is Σ_t A C
  for (int t = 0; t < weights.rows; ++t) {
    const std::span<const double> row = weights.row(t);
    if (!std::all_of(row.begin(), row.end(), [](double w) { return std::isfinite(w); })) continue;
    ++chance.words;
    for (std::size_t s = 0; s < width; ++s) {
      sums[s] += row[s];
      squares[s] += row[s] * row[s];
    }
  }
  if (chance.words > 0) chance.words += width;
  for (std::size_t s = 0; s < width; ++s) {
    if (sums[s] > 0) chance.expected_returns += squares[s] / sums[s];
  }
  return chance;
}

void HeadStatistics::add(const AttentionRecord& record, std::size_t hypothesis) {
  check_map_shapes(record, hypothesis);
  if (model_.empty()) model_ = record.model.name;
  alignment_heads_ = record.model.alignment_heads;
  const RecordWords words = words_in_record(record, hypothesis);
  if (!has_text(words.source)) return;
  ++sentences_;
  KeyTraits source{false, equal_to(record.source.tokens, record.source.tokens.back()),
                   punctuation_of(record.source.tokens)};
  add_maps(AttentionSite::encoder_self, record.encoder_self, source);
  if (hypothesis >= record.hypotheses.size()) return;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (found.produced.tokens.empty()) return;
  const std::vector<std::string>& read = found.decoder_input.tokens;
  KeyTraits past{true, std::vector<bool>(read.size()), punctuation_of(read)};
  past.end.front() = true;
  add_maps(AttentionSite::decoder_self, found.decoder_self, past);
  add_maps(AttentionSite::cross, found.cross, source);
  add_alignment(found.cross, words);
}

void HeadStatistics::add(const AttentionRecord& record, std::size_t hypothesis,
                         const GoldAlignment& gold, const std::string& where) {
  check_map_shapes(record, hypothesis);
  const RecordWords words = words_in_record(record, hypothesis);
  const bool comparable = words.fits_text && hypothesis < record.hypotheses.size();
  if (comparable) check_gold(gold, words, where);
  add(record, hypothesis);
  if (!comparable) {
    ++gold_skipped_;
    return;
  }
  ++gold_pairs_;
  add_gold(record, record.hypotheses[hypothesis], words, gold);
}

void HeadStatistics::add_maps(AttentionSite kind, const AttentionMaps& maps,
                              const KeyTraits& keys) {
  SiteSums& of_site = at(sites_, kind);
  if (of_site.sums.empty()) {
    of_site.layers = maps.layers;
    of_site.heads = maps.heads;
    of_site.sums.resize(to_size(maps.layers * maps.heads));
  }
  if (of_site.layers != maps.layers || of_site.heads != maps.heads) {
    throw InputError(
        "a record whose {} maps have {} of {} after one with {} of {}; expected records of one "
        "model",
        site_key(kind), counted(maps.layers, "layer"), counted(maps.heads, "head"), of_site.layers,
        of_site.heads);
  }
  of_site.queries += to_size(maps.queries);
  const auto width = to_size(maps.keys);
  std::vector<float> scratch;
  for (std::size_t place = 0; place < of_site.sums.size(); ++place) {
    // Heads are stored layer by layer, so `place` counts from the first head of layer 0.
    const std::span<const float> map = maps.whole(0, to_int(place), scratch);
    for (int query = 0; query < maps.queries; ++query) {
      add_row(of_site.sums[place], map.subspan(to_size(query) * width, width), query, maps, keys);
    }
  }
}

void HeadStatistics::add_row(HeadMetricSums& sums, std::span<const float> row, int query,
                             const AttentionMaps& maps, const KeyTraits& keys) {
  if (!std::all_of(row.begin(), row.end(), [](float w) { return std::isfinite(w); })) {
    ++skipped_rows_;
    return;
  }
  if (is_off(row)) return;
  if (maps.has_projected_keys()) {  // a mixture of tokens has no position and is not the end symbol
    for (const float weight : row) sums.entropy += entropy_of(static_cast<double>(weight));
    ++sums.entropy_rows;
    return;
  }
  const int visible = keys.causal ? query + 1 : maps.keys;
  double distance = 0;
  double farthest = 0;
  for (int key = 0; key < visible; ++key) {
    const auto k = to_size(key);
    const auto weight = static_cast<double>(row[k]);
    const double away = distance_of(query, key, maps);
    farthest = std::max(farthest, away);
    distance += weight * away;
    sums.entropy += entropy_of(weight);
    if (keys.end[k]) sums.end += weight;
    if (keys.punctuation[k]) sums.punctuation += weight;
  }
  ++sums.rows;
  ++sums.entropy_rows;
  sums.distance += distance;
  if (visible > 1) {
    ++sums.rows_with_choice;
    sums.diagonality += 1 - distance / farthest;
  }
}

void HeadStatistics::add_alignment(const AttentionMaps& cross, const RecordWords& words) {
  const std::vector<Word> source = content_words(words.source);
  const std::vector<Word> target = content_words(words.target);
  if (source.empty() || target.empty()) return;
  const std::vector<Word> target_read = by_reading_step(target, cross.queries);
  std::vector<HeadMetricSums>& sums = at(sites_, AttentionSite::cross).sums;
  for (std::size_t place = 0; place < sums.size(); ++place) {
    if (is_off(cross.map(0, to_int(place)))) continue;
    const WeightMatrix pieces = head_weights(cross, 0, to_int(place));
    add_to(sums[place].written, round_trip_probability(merge_to_words(pieces, target, source)));
    add_to(sums[place].read, round_trip_probability(merge_to_words(pieces, target_read, source)));
  }
}

void HeadStatistics::add_gold(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                              const RecordWords& words, const GoldAlignment& gold) {
  const std::vector<Word> source = text_words(words.source);
  const std::vector<Word> target = text_words(words.target);
  const AttentionMaps& cross = hypothesis.cross;
  const std::vector<Word> target_read = by_reading_step(target, cross.queries);
  const auto links = [&](const WeightMatrix& pieces, const std::vector<Word>& rows) {
    return extract_links(merge_to_words(pieces, rows, source), source, rows);
  };
  SiteSums& heads = at(sites_, AttentionSite::cross);
  for (std::size_t place = 0; place < heads.sums.size(); ++place) {
    const WeightMatrix pieces = head_weights(cross, 0, to_int(place));
    add_to_score(heads.sums[place].gold, links(pieces, target), gold);
    add_to_score(heads.sums[place].read_gold, links(pieces, target_read), gold);
  }
  std::vector<AlignmentMethod> choices;
  for (int layer = 0; layer < cross.layers; ++layer) {
    choices.push_back({AlignmentMethod::Source::layer, {layer, 0}});
  }
  choices.push_back({AlignmentMethod::Source::average, {}});
  if (!record.encoder_self.has_projected_keys())
    choices.push_back({AlignmentMethod::Source::rollout, {}});
  if (gold_choices_.empty()) {
    for (const AlignmentMethod& choice : choices) gold_choices_.push_back({to_string(choice), {}});
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    add_to_score(gold_choices_[i].score,
                 links(alignment_weights(record, hypothesis, choices[i]), target), gold);
  }
}

SiteReport HeadStatistics::report_of(AttentionSite kind) const {
  const SiteSums& of_site = at(sites_, kind);
  SiteReport report{kind, of_site.layers, of_site.heads, {}, of_site.queries};
  for (const HeadMetricSums& sums : of_site.sums) {
    HeadMetrics metrics;
    metrics.entropy = mean(sums.entropy, sums.entropy_rows);
    metrics.distance = mean(sums.distance, sums.rows);
    metrics.diagonality = mean(sums.diagonality, sums.rows_with_choice);
    metrics.end_mass = mean(sums.end, sums.rows);
    metrics.punctuation_mass = mean(sums.punctuation, sums.rows);
    metrics.alignment = mean(2 * sums.written.expected_returns, sums.written.words);
    metrics.read_alignment = mean(2 * sums.read.expected_returns, sums.read.words);
    if (kind == AttentionSite::cross && gold_pairs_ > 0) {
      metrics.gold = sums.gold;
      metrics.read_gold = sums.read_gold;
    }
    report.metrics.push_back(metrics);
  }
  return report;
}

HeadReport HeadStatistics::report() const {
  HeadReport report;
  report.model = model_;
  report.sentences = sentences_;
  report.skipped_rows = skipped_rows_;
  report.encoder_self = report_of(AttentionSite::encoder_self);
  report.decoder_self = report_of(AttentionSite::decoder_self);
  report.cross = report_of(AttentionSite::cross);
  report.cross.alignment_heads = alignment_heads_;
  report.best = rank_by_alignment(report.cross);
  report.gold_choices = gold_choices_;
  report.gold_pairs = gold_pairs_;
  report.gold_skipped = gold_skipped_;
  return report;
}

}  // namespace attn
