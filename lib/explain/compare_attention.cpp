#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "explain/head_steps.h"
#include "explain/matrices.h"
#include "model/layers.h"
#include "model/packed_tokens.h"
#include "paper/attention.h"

namespace attn {
namespace {

ExplanationContext scene_of(const Transformer& model, const AttentionRecord& record,
                            ExplainedHead choice, AttentionSite site) {
  choice.site = site;
  choice.query = 0;
  return run_for_explanation(model, record, choice);
}

NamedMatrix weights_of(const ExplanationContext& s, const std::string& name) {
  NamedMatrix matrix = s.query_by_key(named_matrix(name, s.head().weights));
  matrix.marked_row = -1;
  return matrix;
}

ExplanationStep origins(const ExplanationContext& encoder, const ExplanationContext& decoder,
                        const ExplanationContext& cross) {
  ExplanationStep step;
  step.id = "origins";
  step.title = "Where query, key and value come from";
  step.formula = "softmax(Q · Kᵀ / √head_dim + mask) · V   in all three";
  const auto source = std::ssize(encoder.keys().ids);
  const auto target = std::ssize(decoder.queries().ids);
  const Index d = encoder.d();
  step.shape = fmt::format("source {}, target {}", shape_of(source, d), shape_of(target, d));
  step.why = "One formula, three places. Only the origin of the rows and the mask differ.";
  step.lines = {
      fmt::format("encoder self-attention: Q, K, V from the source; no mask; map {}",
                  shape_of(source, source)),
      fmt::format(
          "masked decoder self-attention: Q, K, V from the target so far; causal mask; map {}",
          shape_of(target, target)),
      fmt::format("cross-attention: Q from the target, K and V from the encoder's output; no mask; "
                  "map {}",
                  shape_of(target, source))};
  step.matrices = {weights_of(encoder, "encoder self-attention"),
                   weights_of(decoder, "masked decoder self-attention"),
                   weights_of(cross, "cross-attention")};
  return step;
}

/// Returns x · W[:, block] + b[block], unfused and in plain loops.
Matrix single_head_projection(const Matrix& x, const Linear& linear, Index begin, Index end) {
  Matrix out(x.rows(), end - begin);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = begin; j < end; ++j) {
      double sum = linear.bias.data != nullptr ? static_cast<double>(linear.bias.at(0, j)) : 0.0;
      for (Index k = 0; k < x.cols(); ++k) {
        sum += static_cast<double>(x(i, k)) * static_cast<double>(linear.weight.at(k, j));
      }
      out(i, j - begin) = static_cast<float>(sum);
    }
  }
  return out;
}

ExplanationStep separate_and_fused(const ExplanationContext& s) {
  const Matrix small =
      single_head_projection(s.sublayer_input(), s.attention().query, s.begin(), s.end());
  const Matrix block = s.at(Stage::projected).middleCols(s.begin(), s.head_dim());
  const float difference = (small - block).cwiseAbs().maxCoeff();
  ExplanationStep step;
  step.id = "fused";
  step.title = "Separate small matrices, or columns of one large one";
  step.formula = "Q_h = X · W_q[:, h] + b_q[h]   or   columns of X · [W_q | W_k | W_v] + b";
  step.shape = fmt::format(
      "{} · {} = {}   or   columns {} to {} of {} · {} = {}", shape_of(small.rows(), s.d()),
      shape_of(s.d(), s.head_dim()), shape_of(small.rows(), s.head_dim()), s.begin(), s.end() - 1,
      shape_of(small.rows(), s.d()), shape_of(s.d(), s.inner() + 2 * s.key_columns()),
      shape_of(small.rows(), s.inner() + 2 * s.key_columns()));
  step.why =
      "Papers draw each head with its own small matrices. Programs multiply once by one large "
      "matrix, and a head is some of its columns. Both compute the same sums of the same products.";
  step.matrices = {
      s.by_query(named_matrix("Q from its own small matrix", small)),
      s.by_query(named_matrix("Q as columns of the fused matrix multiplication", block))};
  step.lines = {fmt::format("largest difference: {} (rounding of 32-bit floats)", difference)};
  return step;
}

double mean_entropy(const Matrix& weights) {
  double sum = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    const double w = static_cast<double>(weights.data()[i]);
    if (w > 0) sum -= w * std::log(w);
  }
  return sum / static_cast<double>(std::max<Index>(weights.rows(), 1));
}

ExplanationStep scaling(const ExplanationContext& s) {
  const HeadActivations& head = s.head();
  const float root = std::sqrt(static_cast<float>(s.head_dim()));
  const float raw_factor = 1.0F / head.scale;
  const auto softmax = [&](float factor) -> Matrix {
    const Matrix masked = head.scores * factor + head.mask;
    return paper::softmax(masked.cast<double>()).cast<float>();
  };
  const Matrix with = softmax(raw_factor / root), without = softmax(raw_factor);
  ExplanationStep step;
  step.id = "scaling";
  step.title = "With and without the division by √head_dim";
  step.formula = fmt::format("softmax(Q · Kᵀ / √{})   or   softmax(Q · Kᵀ)", s.head_dim());
  step.shape = shape_of(with.rows(), with.cols());
  step.why =
      "Without the division, the same scores are √head_dim times as far apart: softmax picks the "
      "largest one, and its gradient vanishes (Vaswani et al. 2017, section 3.2.1).";
  step.matrices = {s.query_by_key(named_matrix("with", with)),
                   s.query_by_key(named_matrix("without", without))};
  for (NamedMatrix& matrix : step.matrices) matrix.marked_row = -1;
  step.lines = {
      fmt::format("mean entropy of a row, with: {} nats; without: {} nats (0: all weight on one "
                  "word; {}: equal weights)",
                  number(mean_entropy(with)), number(mean_entropy(without)),
                  number(std::log(static_cast<double>(with.cols()))))};
  return step;
}

Matrix encoded(const Transformer& model, const TokenSequence& sentence) {
  PackedTokens packed;
  packed.add(sentence.ids);
  return model.encode(packed).rows;
}

/// Encodes a sentence without adding positions to the embeddings.
Matrix encoded_without_positions(const Transformer& model, const TokenSequence& sentence) {
  const ModelConfig& config = model.config();
  const ModelParameters& parameters = model.parameters();
  PackedTokens packed;
  packed.add(sentence.ids);
  const std::vector<AttentionGroup> groups =
      self_groups(packed, /*causal=*/false, config.encoder_attention.globals);
  const auto rows = std::ssize(sentence.ids);
  Workspace work;
  work.reserve(rows, config, /*encoder=*/true, /*watched=*/false);
  const AttentionPositionEncoding none;
  const std::vector<Index> places(sentence.ids.size(), 0);  // all tokens have position 0
  const StackRun run{config, AttentionSite::encoder_self, groups, {}, nullptr, work, none, places};

  Matrix zeros = Matrix::Zero(1 + position_table_offset(config), config.d_model);
  StackParameters ends = parameters.encoder;
  ends.positions = row_major(zeros.data(), zeros.rows(), config.d_model);
  Matrix x(rows, config.d_model);
  embed_inputs(ends, run, sentence.ids, x);
  for (std::size_t i = 0; i < parameters.encoder_layers.size(); ++i) {
    encoder_layer(parameters.encoder_layers[i], to_index(i), run, x);
  }
  apply_final_norm(ends, run, x);
  return x;
}

/// Formats a sentence as “dog bites man”.
std::string as_text(const TokenSequence& sentence) {
  constexpr std::string_view blank = "▁";
  std::string text;
  for (std::string_view token : sentence.tokens) {
    if (token == sentence.tokens.back()) break;  // the end symbol
    if (token.starts_with(blank)) {
      token.remove_prefix(blank.size());
      if (!text.empty()) text += ' ';
    }
    text += token;
  }
  return "“" + text + "”";
}

/// Compares the encoder's vectors of each token in the two sentences of `order`: its n-th
/// occurrence in one with the n-th in the other.
NamedMatrix order_differences(const Transformer& model, const WordOrder& order) {
  NamedMatrix table;
  table.listing = true;
  table.name = fmt::format("{} against {}: largest change of a word's vector", as_text(order.first),
                           as_text(order.second));
  table.column_tokens = {"with positions", "without"};
  table.columns = 2;
  const Matrix first = encoded(model, order.first), second = encoded(model, order.second);
  const Matrix bare_first = encoded_without_positions(model, order.first);
  const Matrix bare_second = encoded_without_positions(model, order.second);
  std::vector<bool> used(order.second.ids.size(), false);
  for (std::size_t i = 0; i < order.first.ids.size(); ++i) {
    for (std::size_t j = 0; j < order.second.ids.size(); ++j) {
      if (used[j] || order.second.ids[j] != order.first.ids[i]) continue;
      used[j] = true;
      const auto a = to_index(i), b = to_index(j);
      table.row_tokens.push_back(order.first.tokens[i]);
      table.values.push_back((first.row(a) - second.row(b)).cwiseAbs().maxCoeff());
      table.values.push_back((bare_first.row(a) - bare_second.row(b)).cwiseAbs().maxCoeff());
      break;
    }
  }
  table.rows = to_int(table.row_tokens.size());
  return table;
}

std::string listed(const TokenSequence& sentence) {
  std::string text;
  for (const std::string& token : sentence.tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

ExplanationStep positions(const Transformer& model, const WordOrder& order) {
  ExplanationStep step;
  step.id = "positions";
  step.title = "With and without positions";
  step.formula =
      model.config().relative.enabled() ? "scores + bias of their distance   or   scores alone"
      : model.config().rotary           ? "Q and K rotated by their positions   or   as they are"
                              : "x = E[id] · √d_model + position   or   x = E[id] · √d_model";
  step.why =
      "Self-attention treats a sentence as a bag of words. Without positions, each word's vector "
      "is the same in both orders (up to the order of additions), so it is impossible to tell who "
      "did what to whom.";
  step.lines = {"one order:   " + listed(order.first), "the other:   " + listed(order.second)};
  step.matrices = {order_differences(model, order)};
  step.shape = fmt::format("encoder output {}",
                           shape_of(std::ssize(order.first.ids), model.config().d_model));
  return step;
}

}  // namespace

Explanation compare_attention(const Transformer& model, const AttentionRecord& record,
                              const ExplainedHead& choice, const WordOrder& order) {
  const ExplanationContext encoder = scene_of(model, record, choice, AttentionSite::encoder_self);
  const ExplanationContext decoder = scene_of(model, record, choice, AttentionSite::decoder_self);
  const ExplanationContext cross = scene_of(model, record, choice, AttentionSite::cross);
  Explanation explanation;
  explanation.model = record.model;
  explanation.title =
      fmt::format("Attention compared, layer {}, head {}", choice.layer, choice.head);
  explanation.facts = {"source: " + record.source_text, "target: " + encoder.hypothesis().text};
  explanation.steps.push_back(origins(encoder, decoder, cross));
  explanation.steps.push_back(separate_and_fused(encoder));
  explanation.steps.push_back(scaling(cross));
  explanation.steps.push_back(positions(model, order));
  return explanation;
}

}  // namespace attn
