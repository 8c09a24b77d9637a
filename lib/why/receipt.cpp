#include "why/receipt.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/at.h"
#include "model/layers.h"
#include "nn/embedding.h"

namespace attn {
namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DoubleRow = Eigen::Matrix<double, 1, Eigen::Dynamic>;

/// Returns row i of a parameter.
DoubleRow parameter_row(const Parameter& parameter, Index i) {
  DoubleRow row(parameter.columns);
  for (Index j = 0; j < parameter.columns; ++j) row(j) = parameter.at(i, j);
  return row;
}

/// The row u_t of each step, which is carried from the output table back to the embeddings.
class CarriedRows {
 public:
  /// Begins with E[word], or E[word] − E[foil]. A model that scales the decoder's output scales u.
  CarriedRows(const Transformer& model, const ReceiptWords& of) {
    const Parameter& table = model.parameters().output;
    u_.resize(std::ssize(of.words), table.columns);
    for (Index t = 0; t < u_.rows(); ++t) {
      u_.row(t) = parameter_row(table, at(of.words, t));
      if (!of.foils.empty()) u_.row(t) -= parameter_row(table, at(of.foils, t));
    }
    if (model.config().scale_output) u_ *= static_cast<double>(output_scale(model.config()));
  }

  /// Returns what row t of `added` adds to the logit of step t.
  double item(const Matrix& added, Index t) const {
    return added.row(t).cast<double>().dot(u_.row(t));
  }

  /// Returns the same for a bias, which is added in every row.
  double bias_item(const Parameter& bias, Index t) const {
    return bias.exists() ? parameter_row(bias, 0).dot(u_.row(t)) : 0.0;
  }

  /// Carries the rows through a norm that read `sum`: u ← (g ⊙ u − mean(g ⊙ u)) / σ_t. RMSNorm does
  /// not subtract a mean: u ← g ⊙ u / rms_t.
  void carry_through(const LayerNorm& norm, const Matrix& sum) {
    const DoubleRow weight = parameter_row(norm.weight, 0);
    for (Index t = 0; t < u_.rows(); ++t) {
      DoubleRow x = sum.row(t).cast<double>();
      DoubleRow q = u_.row(t).cwiseProduct(weight);
      if (norm.kind == NormType::layer) {
        x.array() -= x.mean();
        q.array() -= q.mean();
      }
      const double variance = x.squaredNorm() / static_cast<double>(x.size());
      u_.row(t) = q / std::sqrt(variance + static_cast<double>(norm.epsilon));
    }
  }

  /// Returns u · W_Oᵀ, [T, I]: the rows as the heads' outputs meet them. W_O is [I, D].
  Matrix before_projection(const Parameter& weight) const {
    const Matrix u = u_.cast<float>();
    if (weight.data != nullptr && weight.row_stride == 1) {  // stored as [D, I]
      return u * Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(
                     weight.data, weight.columns, weight.rows,
                     Eigen::OuterStride<>(weight.column_stride));
    }
    Matrix transposed(weight.columns, weight.rows);
    for (Index j = 0; j < weight.columns; ++j) weight.copy_column(j, transposed.row(j).data());
    return u * transposed;
  }

  Index steps() const { return u_.rows(); }
  Matrix rows() const { return u_.cast<float>(); }

 private:
  Doubles u_;  ///< [T, D]
};

/// Computes the items of each head and key: α_{h,t,s} (v_{h,s} W_O^h) · u_t. `items` is [T, L, H,
/// S].
void attention_items(const AttentionTrace& block, const Linear& projection, const CarriedRows& rows,
                     Index layer, NdArray& items) {
  const Matrix u = rows.before_projection(projection.weight);
  for (Index h = 0; h < std::ssize(block.values); ++h) {
    const Matrix& values = at(block.values, h);
    const auto own = u.middleCols(h * values.cols(), values.cols());
    const Matrix head = at(block.weights, h).cwiseProduct(own * values.transpose());
    for (Index t = 0; t < head.rows(); ++t) {
      std::copy_n(head.row(t).data(), head.cols(), &items(t, layer, h, 0));
    }
  }
}

/// Computes the items of one model from the last layer to the embeddings.
class ReceiptMaker {
 public:
  ReceiptMaker(const Transformer& model, const Trace& trace, const ReceiptWords& words)
      : model_(model), trace_(trace), words_(words), rows_(model, words) {
    const Index T = std::ssize(trace.written), S = std::ssize(trace.source);
    const Index L = model.config().decoder_layers, H = model.config().decoder_heads;
    for (NdArray* each :
         {&r_.token, &r_.position, &r_.final_norm_bias, &r_.output_bias, &r_.total, &r_.logit}) {
      *each = NdArray({T});
    }
    for (NdArray* each : {&r_.self_out_bias, &r_.cross_out_bias, &r_.ffn}) *each = NdArray({T, L});
    r_.norm_bias = NdArray({T, L, 3});
    r_.self = NdArray({T, L, H, T});
    r_.cross = NdArray({T, L, H, S});
  }

  /// Keeps the rows that reach a block, for kept_rows().
  void keep_rows_at(const DecoderBlock& block) { kept_block_ = block; }
  Matrix kept_rows() { return std::move(kept_rows_); }

  Receipt make() {
    output_items();
    const std::vector<DecoderLayer>& layers = model_.parameters().decoder_layers;
    for (Index l = std::ssize(layers) - 1; l >= 0; --l) {
      const DecoderLayer& layer = at(layers, l);
      const LayerTrace& seen = at(trace_.decoder.layers, l);
      norm_item(layer.feed_forward_norm, seen.feed_forward.sum, l, 2);
      each_step([&](Index t) { r_.ffn(t, l) = as_float(rows_.item(seen.feed_forward.added, t)); });

      norm_item(layer.cross_attention_norm, seen.cross.sum, l, 1);
      keep_rows({AttentionSite::cross, l});
      attention_items(seen.cross, layer.cross_attention.output, rows_, l, r_.cross);
      bias_items(layer.cross_attention.output.bias, l, r_.cross_out_bias);

      norm_item(layer.self_attention_norm, seen.self.sum, l, 0);
      keep_rows({AttentionSite::decoder_self, l});
      attention_items(seen.self, layer.self_attention.output, rows_, l, r_.self);
      bias_items(layer.self_attention.output.bias, l, r_.self_out_bias);
    }
    embedding_items();
    add_up();
    return std::move(r_);
  }

 private:
  void keep_rows(const DecoderBlock& here) {
    if (!kept_block_ || kept_block_->site != here.site || kept_block_->layer != here.layer) return;
    kept_rows_ = rows_.rows();
  }

  static float as_float(double value) { return static_cast<float>(value); }

  template <typename Action>
  void each_step(Action&& action) {
    for (Index t = 0; t < rows_.steps(); ++t) action(t);
  }

  /// Adds the output bias and, in models with one, the final norm.
  void output_items() {
    const Parameter& bias = model_.parameters().logits_bias;
    each_step([&](Index t) {
      double item = bias.exists() ? bias.at(0, at(words_.words, t)) : 0.0F;
      if (bias.exists() && !words_.foils.empty()) item -= bias.at(0, at(words_.foils, t));
      r_.output_bias(t) = as_float(item);
      // The output already includes its scale, and so does the carried row.
      const double scale = model_.config().scale_output ? output_scale(model_.config()) : 1.0F;
      r_.logit(t) = as_float(rows_.item(trace_.decoder.output, t) / scale + item);
    });
    if (!model_.config().add_final_layer_norm) return;
    const LayerNorm& norm = model_.parameters().decoder.final_norm;
    each_step([&](Index t) { r_.final_norm_bias(t) = as_float(rows_.bias_item(norm.bias, t)); });
    rows_.carry_through(norm, trace_.decoder.layers.back().feed_forward.output);
  }

  /// Adds the bias of the norm after a block. A pre-norm model has no such norm on the residual
  /// stream.
  void norm_item(const LayerNorm& norm, const Matrix& sum, Index layer, Index block) {
    if (model_.config().normalize_before) return;
    each_step(
        [&](Index t) { r_.norm_bias(t, layer, block) = as_float(rows_.bias_item(norm.bias, t)); });
    rows_.carry_through(norm, sum);
  }

  void bias_items(const Parameter& bias, Index layer, NdArray& items) {
    each_step([&](Index t) { items(t, layer) = as_float(rows_.bias_item(bias, t)); });
  }

  /// Adds the token and the position that entered the first layer, through the embedding norm if
  /// there is one.
  void embedding_items() {
    const StackParameters& stack = model_.parameters().decoder;
    const EmbeddingTables tables = embedding_tables(model_.config(), stack);
    Matrix token(rows_.steps(), model_.config().d_model);
    Matrix position = Matrix::Zero(token.rows(), token.cols());
    each_step([&](Index t) {
      const int id = at(trace_.decoder_input, t);
      for (Index j = 0; j < token.cols(); ++j) {
        token(t, j) = tables.tokens.at(id, j) * tables.scale;
        if (tables.positions.exists() && id != tables.token_without_position) {
          position(t, j) = tables.positions.at(t, j);
        }
      }
    });
    if (model_.config().normalize_embedding) {
      r_.embedding_norm_bias = NdArray({rows_.steps()});
      each_step([&](Index t) {
        r_.embedding_norm_bias(t) = as_float(rows_.bias_item(stack.embedding_norm.bias, t));
      });
      rows_.carry_through(stack.embedding_norm, token + position);
    }
    each_step([&](Index t) {
      r_.token(t) = as_float(rows_.item(token, t));
      r_.position(t) = as_float(rows_.item(position, t));
    });
  }

  void add_up() {
    const NdArray* items[] = {&r_.token,       &r_.position,       &r_.self,
                              &r_.cross,       &r_.self_out_bias,  &r_.cross_out_bias,
                              &r_.ffn,         &r_.norm_bias,      &r_.embedding_norm_bias,
                              &r_.output_bias, &r_.final_norm_bias};
    each_step([&](Index t) {
      double sum = 0, size = 0;
      for (const NdArray* item : items) {
        const std::size_t each = item->values.size() / to_size(rows_.steps());
        for (const float value : std::span(item->values).subspan(to_size(t) * each, each)) {
          sum += static_cast<double>(value);
          size += std::abs(static_cast<double>(value));
        }
      }
      r_.total(t) = as_float(sum);
#ifndef NDEBUG
      // The items are exact products, and those of the pass may have been rounded.
      const double relative = model_.backend() == Backend::panels ? 1e-5 : 0.02;
      const double tolerance = relative * std::max(size, 1.0);
      if (std::abs(sum - static_cast<double>(r_.logit(t))) > tolerance) {
        throw std::logic_error("a receipt does not sum to its logit");
      }
#endif
      static_cast<void>(size);
    });
  }

  const Transformer& model_;
  const Trace& trace_;
  const ReceiptWords& words_;
  CarriedRows rows_;
  Receipt r_;
  std::optional<DecoderBlock> kept_block_;
  Matrix kept_rows_;
};

}  // namespace

Receipt make_receipt(const Transformer& model, const Trace& trace, const ReceiptWords& words) {
  return ReceiptMaker(model, trace, words).make();
}

Matrix carried_rows(const Transformer& model, const Trace& trace, const ReceiptWords& words,
                    const DecoderBlock& block) {
  ReceiptMaker maker(model, trace, words);
  maker.keep_rows_at(block);
  maker.make();
  return maker.kept_rows();
}

}  // namespace attn
