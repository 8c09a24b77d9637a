#include "analysis/alignment.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "analysis/head_statistics.h"
#include "analysis/rollout.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/text_boundaries.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/words.h"

namespace attn {
namespace {

using Source = AlignmentMethod::Source;

void check_place(const AlignmentMethod& choice, int layers, int heads) {
  const bool of_head = choice.from == Source::head || choice.from == Source::read;
  if (!of_head && choice.from != Source::layer) return;
  const std::optional<int> head = of_head ? std::optional(choice.place.head) : std::nullopt;
  check_head(to_string(choice), choice.place.layer, head, {"decoder", layers, heads});
}

}  // namespace

AlignmentMethod parse_alignment_method(std::string_view text) {
  if (text == "best" || text == "cross:best") return {Source::best, {}};
  if (text == "average" || text == "cross:mean") return {Source::average, {}};
  if (text == "rollout") return {Source::rollout, {}};
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts[0] == "layer" && parts.size() == 2) {
    return {Source::layer, {parse_index(text, parts[1], "layer"), 0}};
  }
  if (parts[0] == "cross" && parts.size() == 3 && parts[2] == "mean") {
    return {Source::layer, {parse_index(text, parts[1], "layer"), 0}};
  }
  if ((parts[0] == "cross" || parts[0] == "read") && parts.size() == 3) {
    const int layer = parse_index(text, parts[1], "layer");
    return {parts[0] == "read" ? Source::read : Source::head,
            {layer, parse_index(text, parts[2], "head")}};
  }
  if (parts[0] == "encoder" || parts[0] == "decoder") {
    throw UsageError(
        "{}: only cross-attention links source and target words; try cross:0:1 or best",
        excerpt(text));
  }
  throw UsageError(
      "\"{}\": expected best, average, rollout, layer:LAYER, cross:LAYER:HEAD or "
      "read:LAYER:HEAD; try cross:0:1",
      excerpt(text));
}

std::string to_string(const AlignmentMethod& choice) {
  switch (choice.from) {
    case Source::best:
      return "best";
    case Source::average:
      return "average";
    case Source::rollout:
      return "rollout";
    case Source::layer:
      return fmt::format("layer:{}", choice.place.layer);
    case Source::read:
      return fmt::format("read:{}:{}", choice.place.layer, choice.place.head);
    case Source::head:
      break;
  }
  return fmt::format("cross:{}:{}", choice.place.layer, choice.place.head);
}

void check_alignment_method(const AlignmentMethod& choice, const ModelSummary& model) {
  check_place(choice, model.decoder_layers, model.decoder_heads);
}

AlignmentMethod resolve_best_head(const AlignmentMethod& choice, const HeadReport& report) {
  if (choice.from != Source::best || report.best.empty()) return choice;
  return {Source::head, report.best.front()};
}

WeightMatrix alignment_weights(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                               const AlignmentMethod& choice) {
  const AttentionMaps& cross = hypothesis.cross;
  check_place(choice, cross.layers, cross.heads);
  switch (choice.from) {
    case Source::average:
      return mean_of_heads(cross);
    case Source::layer:
      return mean_of_layer(cross, choice.place.layer);
    case Source::head:
    case Source::read:
      return head_weights(cross, choice.place.layer, choice.place.head);
    case Source::rollout:
      return cross_rollout(record, hypothesis);
    case Source::best:
      break;
  }
  return {cross.queries, cross.keys};
}

WordAlignment align(const AttentionRecord& record, std::size_t hypothesis,
                    const AlignmentOptions& options) {
  check_map_shapes(record, hypothesis);
  AlignmentMethod choice = options.choice;
  if (choice.from == Source::best) {
    HeadStatistics statistics;
    statistics.add(record, hypothesis);
    choice = resolve_best_head(choice, statistics.report());
  }
  const RecordWords words = words_in_record(record, hypothesis);
  WordAlignment alignment;
  alignment.from = to_string(choice);
  alignment.source = text_words(words.source);
  alignment.target = text_words(words.target);
  if (hypothesis >= record.hypotheses.size()) return alignment;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (found.produced.tokens.empty()) return alignment;
  const std::vector<Word> rows = choice.from == Source::read
                                     ? by_reading_step(alignment.target, found.cross.queries)
                                     : alignment.target;
  const WeightMatrix merged =
      merge_to_words(alignment_weights(record, found, choice), rows, alignment.source);
  alignment.weights.assign(merged.values.begin(), merged.values.end());
  alignment.links = extract_links(merged, alignment.source, alignment.target, options.least);
  return alignment;
}

std::vector<AlignmentLink> extract_links(const WeightMatrix& weights,
                                         const std::vector<Word>& source,
                                         const std::vector<Word>& target,
                                         std::optional<float> least) {
  std::vector<AlignmentLink> links;
  for (int t = 0; t < weights.rows; ++t) {
    const std::span<const double> row = weights.row(t);
    if (!std::all_of(row.begin(), row.end(), [](double w) { return std::isfinite(w); })) continue;
    const auto strongest =
        std::max_element(row.begin(), row.end());  // the first if several are equal
    if (strongest == row.end() || !(*strongest > 0)) continue;
    for (auto weight = row.begin(); weight != row.end(); ++weight) {
      if (weight != strongest &&
          !(least && *weight > 0 && *weight >= static_cast<double>(*least))) {
        continue;
      }
      const auto s = to_size(weight - row.begin());
      links.push_back(
          {source[s].text_index, at(target, t).text_index, static_cast<float>(*weight)});
    }
  }
  std::sort(links.begin(), links.end(), [](const AlignmentLink& a, const AlignmentLink& b) {
    return std::tie(a.source, a.target) < std::tie(b.source, b.target);
  });
  return links;
}

namespace {

/// Returns the number of words before the next part, after `text` was appended to `words` words.
int words_after(int words, const std::string& text, bool blanks_before) {
  const int more = count_text_words(text);
  // Without spaces in between, the part's first word continues the last one, unless its script
  // has none.
  const bool continues = !blanks_before && !(is_valid_utf8(text) && has_unspaced_script(text));
  return words > 0 && more > 0 && continues ? words + more - 1 : words + more;
}

int first_word(int words, const std::string& text, bool blanks_before) {
  return words_after(words, text, blanks_before) - count_text_words(text);
}

}  // namespace

WordAlignment line_alignment(std::span<const AttentionRecord> parts,
                             std::span<const std::size_t> ranks) {
  WordAlignment line;
  int source_words = 0, target_words = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const HypothesisRecord& hypothesis = parts[i].hypotheses[ranks[i]];
    const bool blanks = parts[i].part.has_value() && !parts[i].part->gap.empty();
    const int source = first_word(source_words, parts[i].source_text, blanks);
    const int target = first_word(target_words, hypothesis.text, blanks);
    if (hypothesis.alignment) {
      line.from = hypothesis.alignment->from;
      for (const AlignmentLink& link : hypothesis.alignment->links) {
        line.links.push_back({link.source + source, link.target + target, link.weight});
      }
    }
    source_words = words_after(source_words, parts[i].source_text, blanks);
    target_words = words_after(target_words, hypothesis.text, blanks);
  }
  return line;
}

void annotate(AttentionRecord& record, const AnnotationOptions& wanted) {
  for (std::size_t i = 0; i < record.hypotheses.size(); ++i) {
    HypothesisRecord& hypothesis = record.hypotheses[i];
    if (wanted.report) {
      HeadStatistics statistics;
      statistics.add(record, i);
      HeadReport report = statistics.report();
      record.encoder_report = std::move(report.encoder_self);
      hypothesis.decoder_report = std::move(report.decoder_self);
      hypothesis.cross_report = std::move(report.cross);
    }
    if (wanted.alignment) hypothesis.alignment = align(record, i, *wanted.alignment);
  }
}

}  // namespace attn
