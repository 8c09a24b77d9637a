#include "analysis/alignment.h"

#include <vector>

#include "analysis/head_statistics.h"
#include "analysis/record_check.h"
#include "analysis/rollout.h"
#include "analysis/whole_number.h"
#include "analysis/word_links.h"
#include "analysis/words.h"
#include "base/error.h"
#include "base/utf8.h"

namespace attn {
namespace {

using From = AlignmentChoice::From;

std::vector<std::string_view> split_at_colons(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t colon = 0; (colon = text.find(':')) != text.npos;) {
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  parts.push_back(text);
  return parts;
}

int parse_number(std::string_view text, const char* what, std::string_view whole) {
  const std::optional<int> number = whole_number(text);
  if (!number) {
    throw UsageError(
        "--align {}: the {} is \"{}\"; expected a whole number from 0, as in cross:0:1",
        fit_width(printable(whole), 60), what, fit_width(printable(text), 30));
  }
  return *number;
}

/// "layers 0 to 2", "only layer 0" or "no layers".
std::string range_of(const char* what, int count) {
  if (count <= 0) return fmt::format("no {}s", what);
  return count == 1 ? fmt::format("only {} 0", what) : fmt::format("{}s 0 to {}", what, count - 1);
}

void check_place(const AlignmentChoice& choice, int layers, int heads) {
  const bool head = choice.from == From::head;
  if (!head && choice.from != From::layer) return;
  if (choice.place.layer >= layers) {
    throw UsageError("--align {}: layer {} is asked for, but the model's decoder has {}",
                     to_string(choice), choice.place.layer, range_of("layer", layers));
  }
  if (head && choice.place.head >= heads) {
    throw UsageError(
        "--align {}: head {} is asked for, but the model's decoder has {} in each layer",
        to_string(choice), choice.place.head, range_of("head", heads));
  }
}

}  // namespace

AlignmentChoice parse_alignment_choice(std::string_view text) {
  if (text == "best") return {From::best, {}};
  if (text == "average") return {From::average, {}};
  if (text == "rollout") return {From::rollout, {}};
  const std::vector<std::string_view> parts = split_at_colons(text);
  if (parts[0] == "layer" && parts.size() == 2) {
    return {From::layer, {parse_number(parts[1], "layer", text), 0}};
  }
  if (parts[0] == "cross" && parts.size() == 3) {
    const int layer = parse_number(parts[1], "layer", text);
    return {From::head, {layer, parse_number(parts[2], "head", text)}};
  }
  if (parts[0] == "encoder" || parts[0] == "decoder") {
    throw UsageError(
        "--align {}: only cross-attention links source and target words; try cross:0:1 or best",
        fit_width(printable(text), 60));
  }
  throw UsageError(
      "--align \"{}\": expected best, average, rollout, layer:LAYER or cross:LAYER:HEAD; try "
      "cross:0:1",
      fit_width(printable(text), 60));
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
    case From::head:
      break;
  }
  return fmt::format("cross:{}:{}", choice.place.layer, choice.place.head);
}

void check_alignment_choice(const AlignmentChoice& choice, const ModelSummary& model) {
  check_place(choice, model.decoder_layers, model.decoder_heads);
}

AlignmentChoice resolve(const AlignmentChoice& choice, const HeadReport& report) {
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
    choice = resolve(choice, statistics.report());
  }
  const RecordWords words = words_of(record, hypothesis);
  WordAlignment alignment;
  alignment.from = to_string(choice);
  alignment.source = text_words(words.source);
  alignment.target = text_words(words.target);
  if (hypothesis >= record.hypotheses.size()) return alignment;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (found.produced.tokens.empty()) return alignment;
  const WeightMatrix merged =
      merge_to_words(weights_of(record, found, choice), alignment.target, alignment.source);
  alignment.weights.assign(merged.values.begin(), merged.values.end());
  alignment.links = links_between(merged, alignment.source, alignment.target, options.least);
  return alignment;
}

}  // namespace attn
