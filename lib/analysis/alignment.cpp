#include "analysis/alignment.h"

#include <vector>

#include "analysis/head_statistics.h"
#include "analysis/record_check.h"
#include "analysis/rollout.h"
#include "analysis/word_links.h"
#include "base/error.h"
#include "config/attention_site.h"
#include "base/strings/excerpt.h"
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
  const std::vector<Word> rows =
      choice.from == Source::read ? by_reading_step(alignment.target, found.cross.queries) : alignment.target;
  const WeightMatrix merged =
      merge_to_words(alignment_weights(record, found, choice), rows, alignment.source);
  alignment.weights.assign(merged.values.begin(), merged.values.end());
  alignment.links = extract_links(merged, alignment.source, alignment.target, options.least);
  return alignment;
}

}  // namespace attn
