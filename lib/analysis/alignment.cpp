#include "analysis/alignment.h"

#include <vector>

#include "analysis/head_statistics.h"
#include "analysis/record_check.h"
#include "analysis/rollout.h"
#include "analysis/word_links.h"
#include "base/error.h"
#include "base/head_name.h"
#include "base/strings/excerpt.h"
#include "record/words.h"

namespace attn {
namespace {

using From = AlignmentChoice::From;

void check_place(const AlignmentChoice& choice, int layers, int heads) {
  const bool of_head = choice.from == From::head || choice.from == From::read;
  if (!of_head && choice.from != From::layer) return;
  const std::optional<int> head = of_head ? std::optional(choice.place.head) : std::nullopt;
  check_head(to_string(choice), choice.place.layer, head, {"decoder", layers, heads});
}

}  // namespace

AlignmentChoice parse_alignment_choice(std::string_view text) {
  if (text == "best" || text == "cross:best") return {From::best, {}};
  if (text == "average" || text == "cross:mean") return {From::average, {}};
  if (text == "rollout") return {From::rollout, {}};
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts[0] == "layer" && parts.size() == 2) {
    return {From::layer, {parse_index(text, parts[1], "layer"), 0}};
  }
  if (parts[0] == "cross" && parts.size() == 3 && parts[2] == "mean") {
    return {From::layer, {parse_index(text, parts[1], "layer"), 0}};
  }
  if ((parts[0] == "cross" || parts[0] == "read") && parts.size() == 3) {
    const int layer = parse_index(text, parts[1], "layer");
    return {parts[0] == "read" ? From::read : From::head,
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

std::string to_string(const AlignmentChoice& choice) {
  switch (choice.from) {
    case From::best:
      return "best";
    case From::average:
      return "average";
    case From::rollout:
      return "rollout";
    case From::layer:
      return fmt::format("layer:{}", choice.place.layer);
    case From::read:
      return fmt::format("read:{}:{}", choice.place.layer, choice.place.head);
    case From::head:
      break;
  }
  return fmt::format("cross:{}:{}", choice.place.layer, choice.place.head);
}

void check_alignment_choice(const AlignmentChoice& choice, const ModelSummary& model) {
  check_place(choice, model.decoder_layers, model.decoder_heads);
}

AlignmentChoice with_best_head(const AlignmentChoice& choice, const HeadReport& report) {
  if (choice.from != From::best || report.best.empty()) return choice;
  return {From::head, report.best.front()};
}

WeightMatrix weights_of(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                        const AlignmentChoice& choice) {
  const AttentionMaps& cross = hypothesis.cross;
  check_place(choice, cross.layers, cross.heads);
  switch (choice.from) {
    case From::average:
      return mean_of_heads(cross);
    case From::layer:
      return mean_of_layer(cross, choice.place.layer);
    case From::head:
    case From::read:
      return head_weights(cross, choice.place.layer, choice.place.head);
    case From::rollout:
      return cross_rollout(record, hypothesis);
    case From::best:
      break;
  }
  return {cross.queries, cross.keys};
}

WordAlignment align(const AttentionRecord& record, std::size_t hypothesis,
                    const AlignmentOptions& options) {
  check_record(record, hypothesis);
  AlignmentChoice choice = options.choice;
  if (choice.from == From::best) {
    HeadStatistics statistics;
    statistics.add(record, hypothesis);
    choice = with_best_head(choice, statistics.report());
  }
  const RecordWords words = words_of(record, hypothesis);
  WordAlignment alignment;
  alignment.from = to_string(choice);
  alignment.source = text_words(words.source);
  alignment.target = text_words(words.target);
  if (hypothesis >= record.hypotheses.size()) return alignment;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (found.produced.tokens.empty()) return alignment;
  const std::vector<Word> rows =
      choice.from == From::read ? as_read(alignment.target, found.cross.queries) : alignment.target;
  const WeightMatrix merged =
      merge_to_words(weights_of(record, found, choice), rows, alignment.source);
  alignment.weights.assign(merged.values.begin(), merged.values.end());
  alignment.links = links_between(merged, alignment.source, alignment.target, options.least);
  return alignment;
}

}  // namespace attn
