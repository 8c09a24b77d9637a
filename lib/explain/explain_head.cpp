#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/sparse_pattern.h"
#include "explain/explain.h"
#include "explain/head_steps.h"
#include "model/packed_tokens.h"
#include "record/words.h"

namespace attn {
namespace {

const char* title_of(AttentionSite site) {
  switch (site) {
    case AttentionSite::encoder_self:
      return "encoder self-attention";
    case AttentionSite::decoder_self:
      return "masked decoder self-attention";
    case AttentionSite::cross:
      return "cross-attention";
  }
  return "";
}

void check(const AttentionRecord& record, const ExplainedHead& choice) {
  const bool encoder = choice.site == AttentionSite::encoder_self;
  const StackShape shape = record.model.stack(choice.site);
  check_head(to_string(HeadName{choice.site, choice.layer, choice.head}), choice.layer, choice.head,
             shape);
  const bool empty = record.source.ids.size() <= 1 ||
                     choice.hypothesis >= record.hypotheses.size() ||
                     record.hypotheses[choice.hypothesis].produced.ids.empty();
  if (empty) throw InputError("the sentence has no tokens; there is nothing to explain");
  const std::size_t queries = encoder
                                  ? record.source.ids.size()
                                  : record.hypotheses[choice.hypothesis].decoder_input.ids.size();
  if (choice.query < 0 || to_size(choice.query) >= queries) {
    throw UsageError("no query {}: there are queries 0 to {}, one per {} token", choice.query,
                     queries - 1, encoder ? "source" : "decoder input");
  }
}

}  // namespace

ExplanationContext run_for_explanation(const Transformer& model, const AttentionRecord& record,
                                       const ExplainedHead& choice) {
  check(record, choice);
  const ModelConfig& config = model.config();
  const AttentionPattern& own = choice.site == AttentionSite::encoder_self
                                    ? config.encoder_attention
                                    : config.decoder_attention;
  if (choice.site != AttentionSite::cross && sparse_pattern(own).approximates()) {
    throw InputError(
        "attention {} is not the softmax of one head's scores; explain a head of another kind",
        sparse_pattern(own).name());
  }
  ExplanationContext s{model, record, choice, {}};
  PackedTokens source, decoder_input;
  source.add(record.source.ids);
  const EncodedSource encoded = model.encode(source, &s.stages);
  if (!s.in_encoder()) {
    decoder_input.add(s.hypothesis().decoder_input.ids);
    model.decode(decoder_input, encoded, &s.stages);
  }
  return s;
}

namespace {

/// Returns the explanation without its steps.
Explanation opening(const ExplanationContext& s) {
  const AttentionRecord& record = s.record;
  const ExplainedHead& choice = s.choice;
  Explanation explanation;
  explanation.model = record.model;
  explanation.title =
      fmt::format("{}, layer {}, head {}", title_of(choice.site), choice.layer, choice.head);
  explanation.facts.push_back("source: " + record.source_text);
  if (!s.in_encoder()) explanation.facts.push_back("target: " + s.hypothesis().text);
  std::string query = readable(at(s.queries().tokens, choice.query));
  const auto row = to_size(choice.query);
  if (!s.in_encoder() && row < s.hypothesis().produced.tokens.size()) {
    query = fmt::format("the step that reads {} and writes {}", query,
                        readable(s.hypothesis().produced.tokens[row]));
  }
  explanation.facts.push_back(fmt::format("query {}: {}", choice.query, query));
  return explanation;
}

}  // namespace

Explanation explain_single_query(const Transformer& model, const AttentionRecord& record,
                                 const ExplainedHead& choice) {
  const ExplanationContext s = run_for_explanation(model, record, choice);
  Explanation explanation = opening(s);
  explanation.steps.push_back(single_query_step(s));
  return explanation;
}

Explanation explain_head(const Transformer& model, const AttentionRecord& record,
                         const ExplainedHead& choice) {
  const ExplanationContext s = run_for_explanation(model, record, choice);
  Explanation explanation = opening(s);
  std::vector<ExplanationStep>& steps = explanation.steps;
  // Each step has the same number at every attention site, even if an earlier step is left out.
  int number = 0;
  const auto add = [&](ExplanationStep step) {
    step.number = number;
    steps.push_back(std::move(step));
  };
  ++number;
  add(tokens_step(s));
  ++number;
  if (s.in_encoder() || s.cross()) add(embedding_step(s, true));
  ++number;
  if (!s.in_encoder()) add(embedding_step(s, false));
  for (auto* tell : {input_step, fused_projection_step, query_key_value_step}) {
    ++number;
    add(tell(s));
  }
  if (s.config().rotary) ++number;
  if (s.rotary()) add(rotary_step(s));
  for (auto* tell : {scores_step, scaling_step}) {
    ++number;
    add(tell(s));
  }
  if (s.config().relative.enabled()) ++number;
  if (s.head().relative_bias.size() > 0) add(relative_bias_step(s));
  for (auto* tell : {mask_step, softmax_step, weighted_sum_step, concatenated_heads_step,
                     output_projection_step, residual_step}) {
    ++number;
    add(tell(s));
  }
  return explanation;
}

namespace {

/// Returns the weight of a row on all tokens of a word.
float weight_on(const AttentionMaps& maps, const ExplainedHead& choice, int row, const Word& word) {
  float sum = 0;
  for (int key = word.first; key < std::min(word.first + word.count, maps.keys); ++key) {
    sum += maps.at(choice.layer, choice.head, row, key);
  }
  return sum;
}

}  // namespace

int most_informative_query(const AttentionRecord& record, const ExplainedHead& choice) {
  if (choice.hypothesis >= record.hypotheses.size()) return 0;
  const HypothesisRecord& found = record.hypotheses[choice.hypothesis];
  const RecordWords words = words_in_record(record, choice.hypothesis);
  const bool encoder = choice.site == AttentionSite::encoder_self;
  const bool decoder = choice.site == AttentionSite::decoder_self;
  const AttentionMaps& maps =
      encoder ? record.encoder_self : (decoder ? found.decoder_self : found.cross);
  if (choice.layer >= maps.layers || choice.head >= maps.heads || maps.has_projected_keys())
    return 0;
  const std::vector<Word> rows = content_words(encoder ? words.source : words.target);
  const std::vector<Word> keys =
      content_words(decoder ? by_reading_step(words.target, maps.keys) : words.source);
  int best = 0;
  float most = 0;
  for (const Word& row : rows) {
    if (row.first >= maps.queries) continue;
    for (const Word& key : keys) {
      if (encoder && key.first == row.first) continue;
      const float weight = weight_on(maps, choice, row.first, key);
      if (weight <= most) continue;
      most = weight;
      best = row.first;
    }
  }
  return best;
}

}  // namespace attn
