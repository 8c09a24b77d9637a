#include "service/why/explain_receipt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "explain/matrices.h"
#include "why/receipt.h"

namespace attn {
namespace {

/// The inputs of the steps that explain an item.
struct ReceiptItem {
  const Transformer& model;
  const HypothesisRecord& hypothesis;
  const TokenSequence& keys;  ///< what the head looks at
  const ExplainedHead& choice;
  const AttentionTrace& block;
  RowVector carried;  ///< [D]
  RowVector items;    ///< [S] of all keys of the head
  float logit = 0;    ///< of the written token
  Index key = 0;

  bool cross() const { return choice.site == AttentionSite::cross; }
  Index step() const { return choice.query; }
  const std::string& word() const { return at(hypothesis.produced.tokens, step()); }
  const std::string& key_token() const { return at(keys.tokens, key); }
  const Matrix& values() const { return at(block.values, choice.head); }
  RowVector value() const { return values().row(key); }
  float weight() const { return at(block.weights, choice.head)(step(), key); }
  const Linear& projection() const {
    const DecoderLayer& layer = at(model.parameters().decoder_layers, choice.layer);
    return cross() ? layer.cross_attention.output : layer.self_attention.output;
  }
  /// W_O^h, [K, D]: the rows of the output projection that belong to the head.
  Matrix head_projection() const {
    const Index size = values().cols(), first = choice.head * size;
    const Parameter& weight = projection().weight;
    Matrix rows(size, weight.columns);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < weight.columns; ++j) rows(i, j) = weight.at(first + i, j);
    }
    return rows;
  }
};

constexpr Index kShownOfSum = 3;  // products at each end of a sum that is written out

ExplanationStep carried_step(const ReceiptItem& item) {
  ExplanationStep step;
  step.id = "carried_row";
  step.title = fmt::format("The output row of {}, carried back to this head", item.word());
  step.formula = "u = E[word]; through each norm on the way back: u ← (g ⊙ u − mean(g ⊙ u)) / σ";
  step.shape = shape_of(1, item.carried.size());
  step.why =
      "The logit is the last vector times the word's row of the output table. With each norm's σ "
      "fixed, carrying that row back through the norms gives u here: whatever is added to the "
      "residual stream at this point adds its dot product with u to the logit.";
  step.matrices.push_back(named_matrix("u", item.carried));
  step.lines.push_back(fmt::format("logit({}) = {}", item.word(), number(item.logit)));
  return step;
}

ExplanationStep weight_step(const ReceiptItem& item) {
  ExplanationStep step;
  step.id = "weight";
  step.title = "How much of each key the head takes";
  step.formula = "α = softmax(scores)";
  step.shape = shape_of(1, item.items.size());
  step.why = "The row of the attention map at this step.";
  NamedMatrix weights =
      named_matrix("α", at(item.block.weights, item.choice.head).row(item.step()));
  weights.column_tokens = item.keys.tokens;
  step.matrices.push_back(std::move(weights));
  step.lines.push_back(fmt::format("α({}) = {}", item.key_token(), number(item.weight())));
  return step;
}

ExplanationStep vector_step(const ReceiptItem& item) {
  const Matrix projection = item.head_projection();
  const RowVector vector = item.value() * projection;
  ExplanationStep step;
  step.id = "head_vector";
  step.title = fmt::format("What the head would write for {} alone", item.key_token());
  step.formula = "f = v · W_O^h";
  step.shape =
      fmt::format("{} · {} = {}", shape_of(1, projection.rows()),
                  shape_of(projection.rows(), projection.cols()), shape_of(1, projection.cols()));
  step.why =
      "v is the key's value with its bias; W_O^h has the rows of the output projection that belong "
      "to this head.";
  step.matrices = {named_matrix("v", item.value()), named_matrix("W_O^h", projection),
                   named_matrix("f", vector)};
  return step;
}

ExplanationStep item_step(const ReceiptItem& item) {
  const RowVector vector = item.value() * item.head_projection();
  const double product = vector.cast<double>().dot(item.carried.cast<double>());
  ExplanationStep step;
  step.id = "item";
  step.title = "The item of the receipt";
  step.formula = "item = α · (f · u)";
  step.shape =
      fmt::format("1 · ({} · {}) = 1", shape_of(1, vector.size()), shape_of(vector.size(), 1));
  step.why = fmt::format(
      "What {} added to the logit of {} through this head. The items of all heads and keys, of the "
      "embeddings, feed-forwards and biases sum to the logit.",
      item.key_token(), item.word());
  step.lines = {"f · u = " + sum_of_products(vector, item.carried, kShownOfSum, product),
                fmt::format("item = {} · {} = {}", number(item.weight()), number(product),
                            number(item.weight() * product))};
  NamedMatrix items = named_matrix("items of this head", item.items);
  items.column_tokens = item.keys.tokens;
  step.matrices.push_back(std::move(items));
  step.lines.push_back(fmt::format("This head's items sum to {}, of a logit of {}.",
                                   number(item.items.cast<double>().sum()), number(item.logit)));
  return step;
}

void check_item(const AttentionRecord& record, const ExplainedHead& choice) {
  if (choice.site == AttentionSite::encoder_self) {
    throw InputError(
        "a head of the encoder adds nothing to a logit directly; name a head of cross or decoder");
  }
  check_head(to_string(HeadName{choice.site, choice.layer, choice.head}), choice.layer, choice.head,
             record.model.stack(choice.site));
  if (record.source.ids.empty() || choice.hypothesis >= record.hypotheses.size() ||
      record.hypotheses[choice.hypothesis].produced.ids.empty()) {
    throw InputError("the sentence has no tokens; there is nothing to explain");
  }
}

/// Returns the key of a request, checked, or that of the largest item.
Index key_of(const RowVector& items, std::optional<int> key) {
  if (!key) {
    Index largest = 0;
    items.cwiseAbs().maxCoeff(&largest);
    return largest;
  }
  if (*key < 0 || *key >= items.size()) {
    throw UsageError("no key {}: this head has keys 0 to {}", *key, items.size() - 1);
  }
  return *key;
}

}  // namespace

Explanation explain_receipt_item(const Transformer& model, const AttentionRecord& record,
                                 const ExplainedHead& choice, std::optional<int> key) {
  check_item(record, choice);
  const HypothesisRecord& hypothesis = record.hypotheses[choice.hypothesis];
  if (choice.query < 0 || to_size(choice.query) >= hypothesis.produced.ids.size()) {
    throw UsageError("no query {}: there are queries 0 to {}", choice.query,
                     hypothesis.produced.ids.size() - 1);
  }
  const bool cross = choice.site == AttentionSite::cross;
  const Trace trace = trace_translation(model, record.source.ids, hypothesis.decoder_input.ids,
                                        hypothesis.produced.ids);
  const ReceiptWords words{trace.written};
  const Receipt receipt = make_receipt(model, trace, words);
  const Matrix carried = carried_rows(model, trace, words, {choice.site, choice.layer});
  const LayerTrace& layer = at(trace.decoder.layers, choice.layer);
  const std::span<const float> row =
      (cross ? receipt.cross : receipt.self).row(choice.query, choice.layer, choice.head);
  RowVector items = Eigen::Map<const RowVector>(row.data(), std::ssize(row));
  // A step reads no later tokens.
  if (!cross) items = items.head(choice.query + 1).eval();
  TokenSequence keys = cross ? record.source : hypothesis.decoder_input;
  keys.tokens.resize(to_size(items.size()));
  const Index chosen = key_of(items, key);
  const ReceiptItem item{model,
                         hypothesis,
                         keys,
                         choice,
                         cross ? layer.cross : layer.self,
                         carried.row(choice.query),
                         items,
                         receipt.logit(choice.query),
                         chosen};
  Explanation explanation;
  explanation.model = record.model;
  explanation.title = fmt::format("one item of a receipt: {}",
                                  to_string(HeadName{choice.site, choice.layer, choice.head}));
  explanation.facts = {"source: " + record.source_text, "target: " + hypothesis.text,
                       fmt::format("query {}: the step that writes {}", choice.query, item.word()),
                       fmt::format("key {}: {}", chosen, item.key_token())};
  explanation.steps = {carried_step(item), weight_step(item), vector_step(item), item_step(item)};
  return explanation;
}

}  // namespace attn
