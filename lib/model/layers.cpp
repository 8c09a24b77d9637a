#include "model/layers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/at.h"
#include "model/global_projections.h"
#include "model/global_rows.h"
#include "nn/embedding.h"
#include "nn/residual.h"

namespace attn {
namespace {

/// Rows of the feed-forward's hidden layer, the widest matrix of all, that are there at a time: a
/// long sentence takes no more memory for it than a batch of short ones.
constexpr Index kHiddenRows = 1024;

/// Tells an observer what stands at a stage; costs nothing without one.
struct Watch {
  AttentionObserver* observer = nullptr;
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0;

  void operator()(Stage stage, const ConstMatrixRef& rows) const {
    if (observer != nullptr) observer->stage_ready({kind, layer, stage, rows});
  }
};

/// By what names observers know the matrices of a block; its input and output have names where the
/// block is an attention, and are the neighbours' where it is the feed-forward.
struct BlockStages {
  std::optional<Stage> input;
  Stage normed;
  Stage mixed;
  Stage sum;
  Stage output;
};

constexpr BlockStages attention_stages{Stage::block_input, Stage::normed_input, Stage::mixed,
                                       Stage::block_sum, Stage::block_output};
constexpr BlockStages feed_forward_stages{std::nullopt, Stage::feed_forward_normed,
                                          Stage::feed_forward_mixed, Stage::feed_forward_sum,
                                          Stage::layer_output};

/// One block of a layer: its norm, and who watches it.
struct Block {
  const StackRun& run;
  const LayerNorm& norm;
  Watch watch;
  const BlockStages& stages;
  const LayerNorm* global_norm = nullptr;  ///< for the rows before each sentence
};

Block attention_block(const StackRun& run, const LayerNorm& norm, AttentionKind kind, Index layer) {
  return {run, norm, {run.observer, kind, layer}, attention_stages};
}

Block feed_forward_block(const StackRun& run, const LayerNorm& norm, Index layer) {
  return {run, norm, {run.observer, run.kind, layer}, feed_forward_stages};
}

/// What a block reads: x itself, or norm(x) where the norm stands before the block (Xiong et al.
/// 2020, Pegasus). x [T, D] → [T, D].
ConstMatrixRef norm_before(const Block& block, const ConstMatrixRef& x) {
  if (block.stages.input) block.watch(*block.stages.input, x);
  if (!block.run.config.normalize_before) return x;
  MatrixRef normal = block.run.work.normal.topRows(x.rows());
  block.norm.forward(x, normal);
  if (block.global_norm != nullptr) {
    norm_global_rows(*block.global_norm, block.run.self, x, normal);
  }
  block.watch(block.stages.normed, normal);
  return normal;
}

/// The way past a block: x ← norm(x + out) where the norm stands behind it ("Add & Norm" in the
/// paper, Marian), else x ← x + out. x, out [T, D].
void add_and_norm(const Block& block, const ConstMatrixRef& out, MatrixRef x) {
  block.watch(block.stages.mixed, out);
  add_rows(out, x);
  block.watch(block.stages.sum, x);
  if (!block.run.config.normalize_before) block.norm.forward(x, x);
  block.watch(block.stages.output, x);
}

/// Every row looks at the rows of its own sentence, or at what `memory` has of it. x [T, D] → out
/// [T, D].
void self_attention(const MultiHeadAttention& layer, const Block& block, const ConstMatrixRef& x,
                    AttentionMemory* memory, MatrixRef out) {
  const StackRun& run = block.run;
  AttentionShape shape = attention_shape(run.config, block.watch.kind, block.watch.layer);
  shape.distances = run.knows.distances_of_layer(block.watch.layer);
  const Index inner = shape.inner(), keys = shape.key_columns();
  MatrixRef projected = run.work.projected.topRows(x.rows());  // [T, I + 2I'] = Q | K | V
  MatrixRef heads = run.work.heads.topRows(x.rows());          // [T, I]

  layer.query_key_value(x, projected, memory != nullptr ? memory->read_next() : ReadNext{});
  block.watch(Stage::projected, projected);
  if (const Rotation* rotation = run.knows.rotation()) {
    rotation->turn(projected.leftCols(inner + keys), run.places, Rotation::Way::on);
  }
  const AttentionInput rows{projected.leftCols(inner),
                            keys_and_values(projected.rightCols(2 * keys)), run.self, nullptr,
                            &layer.extras};
  if (memory != nullptr) {
    memory->attend(shape, rows, heads, run.observer);
  } else {
    attend(shape, rows, heads, run.observer);
  }
  block.watch(Stage::heads, heads);
  layer.output_product(heads, out);
}

/// Every row of the target looks at the rows of its source sentence, whose keys and values stand in
/// `source` [S, 2I']. x [T, D] → out [T, D].
void cross_attention(const MultiHeadAttention& layer, const Block& block, const ConstMatrixRef& x,
                     const ConstMatrixRef& source, MatrixRef out) {
  const StackRun& run = block.run;
  const AttentionShape shape = attention_shape(run.config, block.watch.kind, block.watch.layer);
  MatrixRef queries = run.work.projected.topRows(x.rows()).leftCols(shape.inner());  // [T, I]
  MatrixRef heads = run.work.heads.topRows(x.rows());                                // [T, I]

  layer.query_alone(x, queries, {source.data(), source.size()});
  block.watch(Stage::projected, queries);
  block.watch(Stage::memory, source);
  attend(shape, {queries, keys_and_values(source), run.cross}, heads, run.observer);
  block.watch(Stage::heads, heads);
  layer.output_product(heads, out);
}

/// Every row for itself. x [T, D] → out [T, D].
void feed_forward(const FeedForward& layer, const Block& block, const ConstMatrixRef& x,
                  MatrixRef out) {
  Matrix& hidden = block.run.work.hidden;
  layer.forward(x, hidden, out);
  if (block.run.observer != nullptr) {
    const Index width = layer.second_product.in();
    block.watch(Stage::feed_forward_hidden, hidden.topRows(x.rows()).leftCols(width));
  }
}

}  // namespace

void encoder_layer(const EncoderLayer& layer, Index index, const StackRun& run, MatrixRef x) {
  MatrixRef out = run.work.block.topRows(x.rows());  // [T, D] what the block at hand has made of x

  // Self-attention: every token looks at every token of its sentence.
  Block self = attention_block(run, layer.self_attention_norm, run.kind, index);
  if (layer.global_norm.weight.exists()) self.global_norm = &layer.global_norm;
  const ConstMatrixRef rows = norm_before(self, x);
  std::optional<ProjectedGlobals> globals;
  if (layer.global_attention.query.weight.exists()) {
    globals.emplace(layer.global_attention, run.self, rows, run.work.global);
  }
  self_attention(layer.self_attention, self, rows, globals ? &*globals : nullptr, out);
  add_and_norm(self, out, x);

  // Feed-forward: every token for itself.
  const Block forward = feed_forward_block(run, layer.feed_forward_norm, index);
  feed_forward(layer.feed_forward, forward, norm_before(forward, x), out);
  add_and_norm(forward, out, x);
}

void decoder_layer(const DecoderLayer& layer, Index index, const StackRun& run,
                   const DecoderMemory& memory, MatrixRef x) {
  MatrixRef out = run.work.block.topRows(x.rows());  // [T, D] what the block at hand has made of x

  // Masked self-attention: every token looks at itself and at those before it.
  const Block self = attention_block(run, layer.self_attention_norm, run.kind, index);
  self_attention(layer.self_attention, self, norm_before(self, x), memory.past, out);
  add_and_norm(self, out, x);

  // Cross-attention: every token looks at the source sentence, as the encoder left it.
  const Block cross = attention_block(run, layer.cross_attention_norm, AttentionKind::cross, index);
  cross_attention(layer.cross_attention, cross, norm_before(cross, x), memory.source, out);
  add_and_norm(cross, out, x);

  // Feed-forward: every token for itself.
  const Block forward = feed_forward_block(run, layer.feed_forward_norm, index);
  feed_forward(layer.feed_forward, forward, norm_before(forward, x), out);
  add_and_norm(forward, out, x);
}

void enter_stack(const EmbeddingsAndNorm& stack, const StackRun& run, std::span<const int> tokens,
                 MatrixRef x) {
  embed(embedding_tables(run.config, stack), {tokens, run.places}, x);
  if (run.config.normalize_embedding) stack.embedding_norm.forward(x, x);
  Watch{run.observer, run.kind, 0}(Stage::embedded, x);
}

void leave_stack(const EmbeddingsAndNorm& stack, const StackRun& run, MatrixRef x) {
  if (run.config.add_final_layer_norm) stack.final_norm.forward(x, x);
  const bool encoder = run.kind == AttentionKind::encoder_self;
  if (!encoder && run.config.scale_output) x *= output_scale(run.config);
  const Index last = (encoder ? run.config.encoder_layers : run.config.decoder_layers) - 1;
  Watch{run.observer, run.kind, last}(Stage::stack_output, x);
}

AttentionShape attention_shape(const ModelConfig& config, AttentionKind kind, Index layer) {
  const bool encoder = kind == AttentionKind::encoder_self;
  const Index heads = encoder ? config.encoder_heads : config.decoder_heads;
  const Index head_dim = encoder ? config.encoder_head_dim() : config.decoder_head_dim();
  const float scale =
      config.scale_attention ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : 1.0F;
  AttentionShape shape{kind, layer, heads, head_dim, scale};
  shape.sharing = heads / (encoder ? config.encoder_key_heads() : config.decoder_key_heads());
  if (encoder) shape.pattern = &config.encoder_attention;
  if (kind == AttentionKind::decoder_self) shape.pattern = &config.decoder_attention;
  return shape;
}

Index rows_before_places(const ModelConfig& config) {
  return family_of(config).first_position;
}

Matrix position_sinusoids(const ModelConfig& config, Index rows) {
  const Family& family = family_of(config);
  const Index first =
      family.places_follow_pad ? config.pad_token_id + 1 - family.first_position : 0;
  return sinusoids(rows, config.d_model, family.sinusoids, first);
}

Parameter position_rows(const ModelConfig& config, const Parameter& table) {
  const Index before = rows_before_places(config);
  if (before == 0 || table.data == nullptr) return table;
  Parameter rows = table;
  rows.data += before * rows.row_stride;
  rows.rows -= before;
  return rows;
}

EmbeddingTables embedding_tables(const ModelConfig& config, const EmbeddingsAndNorm& stack) {
  const int without_place = family_of(config).places_follow_pad ? config.pad_token_id : -1;
  return {stack.embedding, position_rows(config, stack.positions), embedding_scale(config),
          without_place};
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
  const Index inner = encoder ? config.encoder_inner() : config.decoder_inner();
  const Index keys = encoder ? config.encoder_key_columns() : config.decoder_key_columns();
  const Index ffn_dim = encoder ? config.encoder_ffn_dim : config.decoder_ffn_dim;
  normal.resize(rows, config.d_model);
  projected.resize(rows, inner + 2 * keys);
  heads.resize(rows, inner);
  block.resize(rows, config.d_model);
  hidden.resize(watched ? rows : std::min(rows, kHiddenRows), config.gated ? 2 * ffn_dim : ffn_dim);
}

}  // namespace attn
