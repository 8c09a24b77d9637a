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

/// What a hidden unit makes of its sum, and how steep that is. The paper has relu; swish, in the
/// shipped model, bends instead of breaking: x · sigmoid(x) (Ramachandran et al. 2017).
template <typename T>
struct Activation {
  T (*value)(T) = [](T x) { return std::max(x, T(0)); };
  T (*slope)(T) = [](T x) { return x > 0 ? T(1) : T(0); };

  static T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }
  static Activation swish() {
    return {[](T x) { return x * sigmoid(x); },
            [](T x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }};
  }
};

/// Section 3.3: the same small network for every token by itself. With a gate (Shazeer 2020) a
/// second product says how much of each hidden unit passes.
template <typename T>
struct FeedForward {
  Linear<T> first;   ///< W₁ [D, F]
  Linear<T> second;  ///< W₂ [F, D]
  Activation<T> activation = {};
  Linear<T> gate = {};  ///< W_g [D, F]; empty: none

  Matrix<T> hidden(const Matrix<T>& x) const {  // [L, D] → [L, F]
    const Matrix<T> open = first(x).unaryExpr(activation.value);
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

/// Figure 1. The encoder's layers (left) have no cross-attention: its two fields are empty.
template <typename T>
struct Layer {
  MultiHead<T> self_attention;
  LayerNorm<T> self_norm;
  MultiHead<T> cross_attention;
  LayerNorm<T> cross_norm;
  FeedForward<T> feed_forward;
  LayerNorm<T> feed_norm;
  NormPlace place = NormPlace::behind;
};

/// What a layer's heads looked at.
template <typename T>
struct LayerMaps {
  Maps<T> self;   ///< [L, L] each
  Maps<T> cross;  ///< [L, S] each; none in the encoder
};

/// In the encoder (`memory` is null) every token looks at every token of its sentence, and then
/// each by itself passes the feed-forward network. In the decoder tokens look at themselves and
/// those before, and between the two at `memory` [S, D], the sentence as the encoder left it.
///   x [L, D] → [L, D]
template <typename T>
Matrix<T> run_layer(const Layer<T>& layer, const Matrix<T>& x, const Matrix<T>* memory,
                    LayerMaps<T>* maps) {
  const Index n = x.rows();                                                 // L
  const Matrix<T> mask = memory ? causal_mask<T>(n, n) : no_mask<T>(n, n);  // [L, L]
  Matrix<T> y = residual<T>(layer.self_norm, layer.place, x, [&](const Matrix<T>& rows) {
    return multi_head<T>(layer.self_attention, rows, rows, mask, maps ? &maps->self : nullptr);
  });
  if (memory != nullptr) {
    const Matrix<T> all = no_mask<T>(n, memory->rows());  // [L, S]
    y = residual<T>(layer.cross_norm, layer.place, y, [&](const Matrix<T>& rows) {
      return multi_head<T>(layer.cross_attention, rows, *memory, all,
                           maps ? &maps->cross : nullptr);
    });
  }
  return residual<T>(layer.feed_norm, layer.place, y, layer.feed_forward);
}

}  // namespace attn::paper
