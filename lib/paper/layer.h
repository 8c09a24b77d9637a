// The layers of figure 1 of the paper: what stands between the embeddings and the output.
#pragma once

#include "paper/attention.h"

namespace attn::paper {

/// Layer normalisation (Ba et al. 2016): every row gets mean 0 and variance 1, and then a weight
/// and a shift of each column. T5 scales a row to a mean square of 1 and weights the columns, which
/// is all (Zhang and Sennrich 2019, "Root Mean Square Layer Normalization").
template <typename T>
struct LayerNorm {
  Row<T> weight;  ///< [D]; empty: the model has no norm here, and rows pass as they are
  Row<T> bias;    ///< [D]; empty where rms
  bool rms = false;
  T epsilon = T(1e-5);  ///< added to the variance, against a division by 0

  /// x̂ = (x − mean) / √(variance + ε), row by row.
  Matrix<T> normalized(Matrix<T> x) const {  // [L, D] → [L, D]
    for (Index t = 0; t < x.rows(); ++t) {
      if (!rms) x.row(t).array() -= x.row(t).mean();
      x.row(t) /= std::sqrt(x.row(t).squaredNorm() / static_cast<T>(x.cols()) + epsilon);
    }
    return x;
  }

  Matrix<T> operator()(const Matrix<T>& x) const {  // [L, D] → [L, D]
    if (weight.size() == 0) return x;
    const Matrix<T> weighted = normalized(x).array().rowwise() * weight.array();
    if (rms) return weighted;
    return weighted.rowwise() + bias;
  }
};

enum class Activation { relu, gelu, swish, gelu_new };

/// What a hidden unit makes of its sum. The paper has relu; the others bend instead of breaking:
/// gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016; gelu_new is their formula without erf), swish(x)
/// = x · sigmoid(x).
template <typename T>
T activate(Activation activation, T x) {
  if (activation == Activation::relu) return std::max(x, T(0));
  if (activation == Activation::swish) return x / (1 + std::exp(-x));
  if (activation == Activation::gelu_new) {
    return x / 2 * (1 + std::tanh(std::sqrt(T(2 / M_PI)) * (x + T(0.044715) * x * x * x)));
  }
  return x * std::erfc(-x / std::sqrt(T(2))) / 2;
}

/// Section 3.3: the same small network for every token by itself. With a gate (Shazeer 2020) a
/// second product says how much of each hidden unit passes.
template <typename T>
struct FeedForward {
  Linear<T> first;   ///< W₁ [D, F]
  Linear<T> second;  ///< W₂ [F, D]
  Activation activation = Activation::relu;
  Linear<T> gate = {};  ///< W_g [D, F]; empty: none

  Matrix<T> hidden(const Matrix<T>& x) const {  // [L, D] → [L, F]
    const Matrix<T> open = first(x).unaryExpr([this](T sum) { return activate(activation, sum); });
    return gate.weight.size() == 0 ? open : Matrix<T>(open.cwiseProduct(gate(x)));
  }
  /// Equation 2: activation(x · W₁ + b₁) · W₂ + b₂.
  Matrix<T> operator()(const Matrix<T>& x) const { return second(hidden(x)); }  // [L, D] → [L, D]
};

/// Where a layer's norms stand: behind each block ("Add & Norm", the paper and Marian), or before
/// it (Xiong et al. 2020; Pegasus).
enum class NormPlace { behind, before };

/// A block, and the way past it: what comes in is added to what the block makes of it, so that
/// every block only has to say what changes. x [L, D], block: [L, D] → [L, D]
template <typename T, typename Block>
Matrix<T> residual(const LayerNorm<T>& norm, NormPlace place, const Matrix<T>& x, Block&& block) {
  if (place == NormPlace::before) return x + block(norm(x));
  return norm(x + block(x));
}

/// Figure 1, left.
template <typename T>
struct EncoderLayer {
  MultiHead<T> self_attention;
  LayerNorm<T> self_norm;
  FeedForward<T> feed_forward;
  LayerNorm<T> feed_norm;
  NormPlace place = NormPlace::behind;
};

/// Self-attention, where every token looks at every token of its sentence; then feed-forward.
///   x [S, D] → [S, D]
template <typename T>
Matrix<T> encoder_layer(const EncoderLayer<T>& layer, const Matrix<T>& x, Maps<T>* maps) {
  const Matrix<T> mask = no_mask<T>(x.rows(), x.rows());  // [S, S]
  const Matrix<T> seen =                                  // [S, D]
      residual<T>(layer.self_norm, layer.place, x, [&](const Matrix<T>& y) {
        return multi_head<T>(layer.self_attention, y, y, mask, maps);
      });
  return residual<T>(layer.feed_norm, layer.place, seen, layer.feed_forward);
}

/// Figure 1, right.
template <typename T>
struct DecoderLayer {
  MultiHead<T> self_attention;
  LayerNorm<T> self_norm;
  MultiHead<T> cross_attention;
  LayerNorm<T> cross_norm;
  FeedForward<T> feed_forward;
  LayerNorm<T> feed_norm;
  NormPlace place = NormPlace::behind;
};

/// What a decoder layer's heads looked at.
template <typename T>
struct DecoderMaps {
  Maps<T> self;   ///< [L, L] each
  Maps<T> cross;  ///< [L, S] each
};

/// Masked self-attention, where every token looks at itself and those before it; cross-attention,
/// where it looks at the source sentence as the encoder left it; feed-forward.
///   x [L, D], memory [S, D] → [L, D]
template <typename T>
Matrix<T> decoder_layer(const DecoderLayer<T>& layer, const Matrix<T>& x, const Matrix<T>& memory,
                        DecoderMaps<T>* maps) {
  const Matrix<T> self_mask = causal_mask<T>(x.rows(), x.rows());    // [L, L]
  const Matrix<T> cross_mask = no_mask<T>(x.rows(), memory.rows());  // [L, S]
  const Matrix<T> own =                                              // [L, D]
      residual<T>(layer.self_norm, layer.place, x, [&](const Matrix<T>& y) {
        return multi_head<T>(layer.self_attention, y, y, self_mask, maps ? &maps->self : nullptr);
      });
  const Matrix<T> seen =  // [L, D]
      residual<T>(layer.cross_norm, layer.place, own, [&](const Matrix<T>& y) {
        return multi_head<T>(layer.cross_attention, y, memory, cross_mask,
                             maps ? &maps->cross : nullptr);
      });
  return residual<T>(layer.feed_norm, layer.place, seen, layer.feed_forward);
}

}  // namespace attn::paper
