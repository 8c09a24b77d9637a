// An observer for explanations: it keeps what an attention layer read, computed and wrote.
// Sources: head_steps_layer.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/at.h"
#include "explain/explain.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// The matrices of one head for one sentence; each head has its own HeadActivations.
struct HeadActivations {
  float scale = 1;
  Matrix query;               ///< [L, K]
  Matrix key;                 ///< [S, K]
  Matrix value;               ///< [S, K]
  Matrix scores;              ///< [L, S] scaled, before the mask
  Matrix relative_bias = {};  ///< [L, S] relative position bias; empty if the model has none
  Matrix mask;                ///< [L, S] 0, a pattern's bias, or −∞
  Matrix weights;             ///< [L, S]
  Matrix output;              ///< [L, K]
  NonTokenWeights<std::vector<float>> non_token_weights = {};  ///< same as in AttentionHead
  std::vector<Index> global_projection_queries = {};           ///< same as in AttentionHead

  /// Returns the input of softmax, [L, S].
  Matrix masked() const {
    if (relative_bias.size() == 0) return scores + mask;
    return scores + relative_bias + mask;
  }
  /// True if a query, and the keys and values that it reads, come from separate projections that
  /// are not kept here.
  bool has_own_projections(Index row) const {
    return std::find(global_projection_queries.begin(), global_projection_queries.end(), row) !=
           global_projection_queries.end();
  }
};

/// Keeps copies of every stage and head of a forward pass over one sentence.
class ActivationCollector : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  /// Throws std::logic_error if the forward pass had no such stage.
  const Matrix& at(AttentionSite site, int layer, Stage stage) const;
  bool has(AttentionSite site, int layer, Stage stage) const;
  const HeadActivations& head(AttentionSite site, int layer, int head) const;

 private:
  std::map<std::tuple<AttentionSite, Index, Stage>, Matrix> stages_;
  std::map<std::tuple<AttentionSite, Index, Index>, HeadActivations> heads_;
};

// The steps of explain_head(), one function per step, and their common context.

/// The input of every step.
struct ExplanationContext {
  const Transformer& model;
  const AttentionRecord& record;
  ExplainedHead choice;
  ActivationCollector stages;

  const ModelConfig& config() const { return model.config(); }
  bool cross() const { return choice.site == AttentionSite::cross; }
  bool in_encoder() const { return choice.site == AttentionSite::encoder_self; }
  Index d() const { return config().d_model; }
  Index head_dim() const {
    return in_encoder() ? config().encoder_head_dim() : config().decoder_head_dim();
  }
  Index heads() const { return in_encoder() ? config().encoder_heads : config().decoder_heads; }
  Index inner() const { return heads() * head_dim(); }      ///< columns of all heads
  Index begin() const { return choice.head * head_dim(); }  ///< first column of the head
  Index end() const { return begin() + head_dim(); }
  Index key_heads() const {
    return in_encoder() ? config().encoder_kv_heads() : config().decoder_kv_heads();
  }
  Index key_columns() const {
    return key_heads() * head_dim();
  }  ///< columns of all keys, or of all values
  /// First column of the keys and values that the head reads, which neighboring heads may share.
  Index key_begin() const { return choice.head / (heads() / key_heads()) * head_dim(); }
  Index key_end() const { return key_begin() + head_dim(); }
  /// True if rotary position embedding is applied to queries and keys.
  bool rotary() const { return config().rotary && !cross(); }

  const HypothesisRecord& hypothesis() const { return record.hypotheses[choice.hypothesis]; }
  const TokenSequence& queries() const {
    return in_encoder() ? record.source : hypothesis().decoder_input;
  }
  const TokenSequence& keys() const { return cross() ? record.source : queries(); }
  const Matrix& at(Stage stage) const { return stages.at(choice.site, choice.layer, stage); }
  const HeadActivations& head() const {
    return stages.head(choice.site, choice.layer, choice.head);
  }
  const MultiHeadAttention& attention() const {
    const auto layer = to_size(choice.layer);
    if (in_encoder()) return model.parameters().encoder_layers[layer].self_attention;
    const DecoderLayer& decoder = model.parameters().decoder_layers[layer];
    return cross() ? decoder.cross_attention : decoder.self_attention;
  }
  const LayerNorm& norm() const {
    const auto layer = to_size(choice.layer);
    if (in_encoder()) return model.parameters().encoder_layers[layer].self_attention_norm;
    const DecoderLayer& decoder = model.parameters().decoder_layers[layer];
    return cross() ? decoder.cross_attention_norm : decoder.self_attention_norm;
  }
  /// Returns the input of the projections: the normalized rows in a pre-norm model.
  const Matrix& sublayer_input() const {
    return at(config().normalize_before ? Stage::normed_input : Stage::block_input);
  }

  NamedMatrix by_query(NamedMatrix matrix) const {
    matrix.row_tokens = queries().tokens;
    if (!in_encoder()) matrix.row_outputs = hypothesis().produced.tokens;
    matrix.marked_row = choice.query;
    return matrix;
  }
  NamedMatrix by_key(NamedMatrix matrix) const {
    matrix.row_tokens = keys().tokens;
    return matrix;
  }
  NamedMatrix query_by_key(NamedMatrix matrix) const {
    matrix.column_tokens = keys().tokens;
    return by_query(std::move(matrix));
  }
};

/// Runs the model over the record's ids with an observer. Throws InputError and UsageError as
/// described for explain_head().
ExplanationContext run_for_explanation(const Transformer& model, const AttentionRecord& record,
                                       const ExplainedHead& choice);

/// Marks the columns of the head in a matrix: in the `queries` columns of all heads, and in the
/// columns of keys and values after them.
NamedMatrix mark_head(const ExplanationContext& s, NamedMatrix matrix, bool queries,
                      bool memory = false);

/// Formats a token as “token”.
std::string quoted(const std::string& token);
/// Formats a token as “token” without the word-boundary character.
std::string readable(const std::string& token);
/// Formats the explained query: “token”, or for a decoder step “token read → token written”.
std::string readable_query(const ExplanationContext& s);

// From words to this head's Q, K and V (head_steps_layer.cpp).
ExplanationStep tokens_step(const ExplanationContext& s);
ExplanationStep embedding_step(const ExplanationContext& s, bool encoder);
ExplanationStep input_step(const ExplanationContext& s);
ExplanationStep fused_projection_step(const ExplanationContext& s);

// The attention formula (head_steps_formula.cpp).
ExplanationStep query_key_value_step(const ExplanationContext& s);
/// For models with rotary position embedding.
ExplanationStep rotary_step(const ExplanationContext& s);
ExplanationStep scores_step(const ExplanationContext& s);
ExplanationStep scaling_step(const ExplanationContext& s);
/// For models with relative position bias.
ExplanationStep relative_bias_step(const ExplanationContext& s);
ExplanationStep mask_step(const ExplanationContext& s);
ExplanationStep softmax_step(const ExplanationContext& s);
ExplanationStep weighted_sum_step(const ExplanationContext& s);

/// The whole formula for one query, short enough for a blackboard.
ExplanationStep single_query_step(const ExplanationContext& s);

// From the heads' outputs back to the token's row (head_steps_layer.cpp).
ExplanationStep concatenated_heads_step(const ExplanationContext& s);
ExplanationStep output_projection_step(const ExplanationContext& s);
ExplanationStep residual_step(const ExplanationContext& s);

}  // namespace attn
