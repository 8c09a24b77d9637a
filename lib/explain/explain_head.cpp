#include "explain/explain_head.h"

#include <fmt/format.h>

#include "base/at.h"
#include "base/error.h"
#include "config/kinds/pattern_kind.h"
#include "explain/head_scene.h"
#include "model/packed_tokens.h"

namespace attn {
namespace {

const char* title_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "encoder self-attention";
    case AttentionKind::decoder_self:
      return "masked decoder self-attention";
    case AttentionKind::cross:
      return "cross-attention";
  }
  return "";
}

void check(const AttentionRecord& record, const HeadChoice& choice) {
  const bool encoder = choice.kind == AttentionKind::encoder_self;
  const StackShape shape = record.model.stack(choice.kind);
  check_head(to_string(HeadName{choice.kind, choice.layer, choice.head}), choice.layer, choice.head,
             shape);
  const bool empty = record.source.ids.size() <= 1 ||
                     choice.hypothesis >= record.hypotheses.size() ||
                     record.hypotheses[choice.hypothesis].produced.ids.empty();
  if (empty) throw InputError("the sentence has no tokens; there is nothing to explain");
  const std::size_t queries = encoder
                                  ? record.source.ids.size()
                                  : record.hypotheses[choice.hypothesis].decoder_input.ids.size();
  if (choice.query < 0 || to_size(choice.query) >= queries) {
    throw UsageError("query {} is asked for, but there are queries 0 to {} here (one a {} token)",
                     choice.query, queries - 1, encoder ? "source" : "decoder input");
  }
}

}  // namespace

Scene run_scene(const Transformer& model, const AttentionRecord& record, const HeadChoice& choice) {
  check(record, choice);
  const ModelConfig& config = model.config();
  const AttentionPattern& own = choice.kind == AttentionKind::encoder_self
                                    ? config.encoder_attention
                                    : config.decoder_attention;
  if (choice.kind != AttentionKind::cross && kind_of(own).approximates()) {
    throw InputError(
        "attention {} is no softmax of one head's scores; explain a head of another kind",
        kind_of(own).word());
  }
  Scene s{model, record, choice, {}};
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

/// Everything but the steps.
Explanation opening(const Scene& s) {
  const AttentionRecord& record = s.record;
  const HeadChoice& choice = s.choice;
  Explanation explanation;
  explanation.model = record.model;
  explanation.title =
      fmt::format("{}, layer {}, head {}", title_of(choice.kind), choice.layer, choice.head);
  explanation.facts.push_back("source: " + record.source_text);
  if (!s.in_encoder()) explanation.facts.push_back("target: " + s.hypothesis().text);
  std::string query = spoken(at(s.queries().tokens, choice.query));
  const auto row = to_size(choice.query);
  if (!s.in_encoder() && row < s.hypothesis().produced.tokens.size()) {
    query = fmt::format("the step that reads {} and writes {}", query,
                        spoken(s.hypothesis().produced.tokens[row]));
  }
  explanation.facts.push_back(fmt::format("query {}: {}", choice.query, query));
  return explanation;
}

}  // namespace

Explanation explain_short(const Transformer& model, const AttentionRecord& record,
                          const HeadChoice& choice) {
  const Scene s = run_scene(model, record, choice);
  Explanation explanation = opening(s);
  explanation.steps.push_back(board_step(s));
  return explanation;
}

Explanation explain_head(const Transformer& model, const AttentionRecord& record,
                         const HeadChoice& choice) {
  const Scene s = run_scene(model, record, choice);
  Explanation explanation = opening(s);
  std::vector<ExplanationStep>& steps = explanation.steps;
  // A step has the same number in every kind, also where another is left out before it.
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
  for (auto* tell : {input_step, projection_step, head_step}) {
    ++number;
    add(tell(s));
  }
  if (s.config().rotary) ++number;
  if (s.rotary()) add(rotation_step(s));
  for (auto* tell : {scores_step, scaling_step}) {
    ++number;
    add(tell(s));
  }
  if (s.config().relative.exist()) ++number;
  if (s.head().distances.size() > 0) add(distance_step(s));
  for (auto* tell :
       {mask_step, softmax_step, values_step, heads_step, mixing_step, residual_step}) {
    ++number;
    add(tell(s));
  }
  return explanation;
}

}  // namespace attn
