#include "model/layers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/at.h"
#include "model/global_tokens.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"

namespace attn {
namespace {

/// Maximum rows of the feed-forward's hidden layer, the widest matrix of all, in memory at a time.
/// A long sentence thus needs no more memory than a batch of short ones.
constexpr Index kHiddenRows = 1024;

/// Reports the values of a stage to an observer; free without one.
struct StageReporter {
  AttentionObserver* observer = nullptr;
  AttentionSite site = AttentionSite::encoder_self;
  Index layer = 0;

  /// The observer may change `rows`.
  void operator()(Stage stage, MatrixRef& rows) const {
    if (observer != nullptr) observer->stage_ready({site, layer, stage, rows, &rows});
  }
  void read_only(Stage stage, const ConstMatrixRef& rows) const {
    if (observer != nullptr) observer->stage_ready({site, layer, stage, rows});
  }
};

/// The names under which observers know a block's matrices. Input and output are named only in
/// attention blocks; a feed-forward's are its neighbors'.
struct BlockStages {
  std::optional<Stage> input;
  Stage normed;
  Stage attn_output;
  Stage sum;
  Stage output;
};

constexpr BlockStages attention_stages{Stage::block_input, Stage::normed_input, Stage::attn_output,
                                       Stage::block_sum, Stage::block_output};
constexpr BlockStages feed_forward_stages{std::nullopt, Stage::feed_forward_normed,
                                          Stage::feed_forward_output, Stage::feed_forward_sum,
                                          Stage::layer_output};

/// One block of a layer: its norm and its observer.
struct Block {
  const StackRun& run;
  const LayerNorm& norm;
  StageReporter report;
  const BlockStages& stages;
  const LayerNorm* global_norm = nullptr;  ///< for the global rows before each sentence
};

Block attention_block(const StackRun& run, const LayerNorm& norm, AttentionSite site, Index layer) {
  return {run, norm, {run.observer, site, layer}, attention_stages};
}

Block feed_forward_block(const StackRun& run, const LayerNorm& norm, Index layer) {
  return {run, norm, {run.observer, run.site, layer}, feed_forward_stages};
}

/// Returns the block's input: x, or norm(x) in pre-norm models (Xiong et al. 2020, Pegasus). x [T,
/// D] → [T, D].
ConstMatrixRef pre_norm(const Block& block, MatrixRef x) {
  if (block.stages.input) block.report(*block.stages.input, x);
  if (!block.run.config.normalize_before) return x;
  MatrixRef normal = block.run.work.normal.topRows(x.rows());
  block.norm.forward(x, normal);
  if (block.global_norm != nullptr) {
    norm_global_rows(*block.global_norm, block.run.self, x, normal);
  }
  block.report(block.stages.normed, normal);
  return normal;
}

/// Adds the block's output to the residual stream: x ← norm(x + out) in post-norm models ("Add &
/// Norm" in the paper, Marian), else x ← x + out. x, out [T, D].
void add_and_norm(const Block& block, MatrixRef out, MatrixRef x) {
  block.report(block.stages.attn_output, out);
  add_rows(out, x);
  block.report(block.stages.sum, x);
  if (!block.run.config.normalize_before) block.norm.forward(x, x);
  block.report(block.stages.output, x);
}

/// The inputs of self-attention besides its rows.
struct SelfAttentionContext {
  KvCache* cache = nullptr;                   ///< decoder: earlier steps; null: whole sentences
  const GlobalProjections* global = nullptr;  ///< of global tokens, where the layer has them
};

/// Every row attends to the rows of its own sentence. x [T, D] → out [T, D].
void self_attention(const MultiHeadAttention& layer, const Block& block, const ConstMatrixRef& x,
                    const SelfAttentionContext& context, MatrixRef out) {
  const StackRun& run = block.run;
  AttentionShape shape = attention_shape(run.config, block.report.site, block.report.layer);
  shape.relative_bias = run.position_encoding.relative_bias_of_layer(block.report.layer);
  const Index inner = shape.inner(), keys = shape.key_columns();
  MatrixRef projected = run.work.projected.topRows(x.rows());  // [T, I + 2I'] = Q | K | V
  MatrixRef heads = run.work.heads.topRows(x.rows());          // [T, I]

  layer.qkv_projection(
      x, projected, context.cache != nullptr ? context.cache->prefetch(shape.layer) : Prefetch{});
  block.report(Stage::projected, projected);
  if (const RotaryEmbedding* rotary = run.position_encoding.rotary()) {
    rotary->apply_rotary(projected.leftCols(inner + keys), run.positions,
                         RotaryEmbedding::Direction::forward);
  }
  const AttentionInput rows{projected.leftCols(inner),
                            keys_and_values(projected.rightCols(2 * keys)), run.self,
                            context.global, &layer.extras};
  if (context.cache != nullptr) {
    context.cache->attend(shape, rows, heads, run.observer);
  } else {
    attend(shape, rows, heads, run.observer);
  }
  block.report(Stage::heads, heads);
  layer.output_projection(heads, out);
}

/// Every target row attends to the rows of its source sentence, whose keys and values are in
/// `source` [S, 2I']. x [T, D] → out [T, D].
void cross_attention(const MultiHeadAttention& layer, const Block& block, const ConstMatrixRef& x,
                     const ConstMatrixRef& source, MatrixRef out) {
  const StackRun& run = block.run;
  const AttentionShape shape = attention_shape(run.config, block.report.site, block.report.layer);
  MatrixRef queries = run.work.projected.topRows(x.rows()).leftCols(shape.inner());  // [T, I]
  MatrixRef heads = run.work.heads.topRows(x.rows());                                // [T, I]

  layer.query_projection(x, queries, {source.data(), source.size()});
  block.report(Stage::projected, queries);
  block.report.read_only(Stage::memory, source);
  attend(shape, {queries, keys_and_values(source), run.cross}, heads, run.observer);
  block.report(Stage::heads, heads);
  layer.output_projection(heads, out);
}

/// Transforms every row independently. x [T, D] → out [T, D].
void feed_forward(const FeedForward& layer, const Block& block, const ConstMatrixRef& x,
                  MatrixRef out) {
  Matrix& hidden = block.run.work.hidden;
  layer.forward(x, hidden, out);
  if (block.run.observer != nullptr) {
    const Index width = layer.second_packed.in();
    block.report.read_only(Stage::feed_forward_hidden, hidden.topRows(x.rows()).leftCols(width));
  }
}

}  // namespace

void encoder_layer(const EncoderLayer& layer, Index index, const StackRun& run, MatrixRef x) {
  MatrixRef out = run.work.block.topRows(x.rows());  // [T, D] output of the current block

  // Self-attention: every token attends to every token of its sentence.
  Block self = attention_block(run, layer.self_attention_norm, run.site, index);
  if (layer.global_norm.weight.exists()) self.global_norm = &layer.global_norm;
  const ConstMatrixRef rows = pre_norm(self, x);
  std::optional<GlobalProjections> global;
  if (layer.global_attention.query.weight.exists()) {
    global.emplace(project_global_tokens(layer.global_attention, run.self, rows, run.work.global));
  }
  self_attention(layer.self_attention, self, rows, {nullptr, global ? &*global : nullptr}, out);
  add_and_norm(self, out, x);

  // Feed-forward: transforms every token independently.
  const Block forward = feed_forward_block(run, layer.feed_forward_norm, index);
  feed_forward(layer.feed_forward, forward, pre_norm(forward, x), out);
  add_and_norm(forward, out, x);
}

void decoder_layer(const DecoderLayer& layer, Index index, const StackRun& run,
                   const DecoderMemory& memory, MatrixRef x) {
  MatrixRef out = run.work.block.topRows(x.rows());  // [T, D] output of the current block

  // Masked self-attention: every token attends to itself and to earlier tokens.
  const Block self = attention_block(run, layer.self_attention_norm, run.site, index);
  self_attention(layer.self_attention, self, pre_norm(self, x), {memory.kv_cache, nullptr}, out);
  add_and_norm(self, out, x);

  // Cross-attention: every token attends to the encoder's output for the source sentence.
  const Block cross = attention_block(run, layer.cross_attention_norm, AttentionSite::cross, index);
  cross_attention(layer.cross_attention, cross, pre_norm(cross, x), memory.source, out);
  add_and_norm(cross, out, x);

  // Feed-forward: transforms every token independently.
  const Block forward = feed_forward_block(run, layer.feed_forward_norm, index);
  feed_forward(layer.feed_forward, forward, pre_norm(forward, x), out);
  add_and_norm(forward, out, x);
}

void embed_inputs(const StackParameters& stack, const StackRun& run, std::span<const int> tokens,
                  MatrixRef x) {
  embed(embedding_tables(run.config, stack), {tokens, run.positions}, x);
  if (run.config.normalize_embedding) stack.embedding_norm.forward(x, x);
  StageReporter{run.observer, run.site, 0}(Stage::embedded, x);
}

void apply_final_norm(const StackParameters& stack, const StackRun& run, MatrixRef x) {
  if (run.config.add_final_layer_norm) stack.final_norm.forward(x, x);
  const bool encoder = run.site == AttentionSite::encoder_self;
  if (!encoder && run.config.scale_output) x *= output_scale(run.config);
  const Index last = (encoder ? run.config.encoder_layers : run.config.decoder_layers) - 1;
  StageReporter{run.observer, run.site, last}(Stage::stack_output, x);
}

AttentionShape attention_shape(const ModelConfig& config, AttentionSite site, Index layer) {
  const bool encoder = site == AttentionSite::encoder_self;
  const Index heads = encoder ? config.encoder_heads : config.decoder_heads;
  const Index head_dim = encoder ? config.encoder_head_dim() : config.decoder_head_dim();
  const float scale =
      config.scale_attention ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : 1.0F;
  AttentionShape shape{site, layer, heads, head_dim, scale};
  shape.queries_per_kv_head =
      heads / (encoder ? config.encoder_kv_heads() : config.decoder_kv_heads());
  if (encoder) shape.pattern = &config.encoder_attention;
  if (site == AttentionSite::decoder_self) shape.pattern = &config.decoder_attention;
  return shape;
}

Index position_table_offset(const ModelConfig& config) {
  return family_of(config).position_offset;
}

Matrix position_sinusoids(const ModelConfig& config, Index rows) {
  const ModelFamily& family = family_of(config);
  const Index first =
      family.positions_start_after_pad ? config.pad_token_id + 1 - family.position_offset : 0;
  return sinusoids(rows, config.d_model, family.sinusoids, first);
}

Parameter position_rows(const ModelConfig& config, const Parameter& table) {
  const Index before = position_table_offset(config);
  if (before == 0 || table.data == nullptr) return table;
  Parameter rows = table;
  rows.data += before * rows.row_stride;
  rows.rows -= before;
  return rows;
}

EmbeddingTables embedding_tables(const ModelConfig& config, const StackParameters& stack) {
  const int token_without_position =
      family_of(config).positions_start_after_pad ? config.pad_token_id : -1;
  return {stack.embedding, position_rows(config, stack.positions), embedding_scale(config),
          token_without_position};
}

float embedding_scale(const ModelConfig& config) {
  return config.scale_embedding ? std::sqrt(static_cast<float>(config.d_model)) : 1.0F;
}

float output_scale(const ModelConfig& config) {
  return config.scale_output ? 1.0F / std::sqrt(static_cast<float>(config.d_model)) : 1.0F;
}

int frozen_row(const ModelConfig& config) {
  return config.absolute_positions ? config.pad_token_id : -1;
}

Index loss_classes(const ModelConfig& config) {
  const int all = config.decoder_vocab_size;
  return config.pad_token_id == all - 1 ? all - 1 : all;
}

void Workspace::reserve(Index rows, const ModelConfig& config, bool encoder, bool watched) {
  const Index inner = encoder ? config.encoder_inner_dim() : config.decoder_inner_dim();
  const Index keys = encoder ? config.encoder_kv_dim() : config.decoder_kv_dim();
  const Index ffn_dim = encoder ? config.encoder_ffn_dim : config.decoder_ffn_dim;
  normal.resize(rows, config.d_model);
  projected.resize(rows, inner + 2 * keys);
  heads.resize(rows, inner);
  block.resize(rows, config.d_model);
  hidden.resize(watched ? rows : std::min(rows, kHiddenRows), config.gated ? 2 * ffn_dim : ffn_dim);
}

}  // namespace attn
