// The whole Transformer (figure 1 of the paper): words in, words out.
#pragma once

#include <span>

#include "paper/layer.h"

namespace attn::paper {

/// Section 3.5: attention does not know where a word stands, so each place has a pattern of waves
/// of its own, which is added to the word. The paper lets sines and cosines take turns; Marian has
/// all sines first:
///   PE(p, i) = sin(p / 10000^(2i/D)),  PE(p, ⌈D/2⌉ + i) = cos(p / 10000^(2i/D))
template <typename T>
Matrix<T> sinusoids(Index positions, Index d_model) {
  Matrix<T> table(positions, d_model);  // [P, D]
  const Index sines = (d_model + 1) / 2;
  for (Index n = 0; n < table.size(); ++n) {
    const Index p = n / d_model, column = n % d_model;
    const Index i = column < sines ? column : column - sines;
    const double angle = double(p) / std::pow(10000.0, 2.0 * double(i) / double(d_model));
    table(p, column) = static_cast<T>(column < sines ? std::sin(angle) : std::cos(angle));
  }
  return table;
}

/// The encoder or the decoder: what turns words into rows, layers, and what stands behind them.
template <typename T>
struct Stack {
  Matrix<T> embedding;          ///< [V, D]
  Matrix<T> positions;          ///< [P, D]: sinusoids(), or learned; empty: attention knows places
  T scale = 1;                  ///< √D, or 1
  LayerNorm<T> embedding_norm;  ///< BART's; empty elsewhere
  std::vector<Layer<T>> layers;
  LayerNorm<T> final_norm;  ///< of pre-norm models, whose layers end in a sum; empty elsewhere
};

/// A model. Where embeddings and output are tied (section 3.4), three fields hold the same numbers.
template <typename T>
struct Transformer {
  Stack<T> encoder;
  Stack<T> decoder;
  Matrix<T> output;    ///< [V, D]
  Row<T> logits_bias;  ///< [V]
  T output_scale = 1;  ///< 1/√D in T5 where output and embedding are tied
};

/// What all heads of a sentence looked at.
template <typename T>
struct AllMaps {
  std::vector<LayerMaps<T>> encoder;  ///< [layer], .self[head] [S, S]
  std::vector<LayerMaps<T>> decoder;  ///< [layer], .self[head] [L, L] and .cross[head] [L, S]
};

/// Sections 3.4 and 3.5: a word's row = its embedding · √D + its place's row.
template <typename T>
Matrix<T> embed(const Stack<T>& stack, std::span<const int> tokens) {
  Matrix<T> x(std::ssize(tokens), stack.embedding.cols());  // [L, D]
  for (Index t = 0; t < x.rows(); ++t) {
    const int token = tokens[static_cast<std::size_t>(t)];
    x.row(t) = stack.embedding.row(token) * stack.scale;
    if (stack.positions.size() > 0) x.row(t) += stack.positions.row(t);
  }
  return stack.embedding_norm(x);
}

/// The encoder's or the decoder's layers, one after the other. → [L, D]
template <typename T>
Matrix<T> run_stack(const Stack<T>& stack, std::span<const int> tokens, const Matrix<T>* memory,
                    std::vector<LayerMaps<T>>* maps) {
  Matrix<T> x = embed(stack, tokens);  // [L, D]
  for (const Layer<T>& layer : stack.layers) {
    x = run_layer(layer, x, memory, maps ? &maps->emplace_back() : nullptr);
  }
  return stack.final_norm(x);
}

/// The source sentence → what the decoder will look at, [S, D].
template <typename T>
Matrix<T> encode(const Transformer<T>& model, std::span<const int> source, AllMaps<T>* maps) {
  return run_stack<T>(model.encoder, source, nullptr, maps ? &maps->encoder : nullptr);
}

/// The words so far and the encoder's rows → [L, D], where row t knows what word t + 1 may be.
template <typename T>
Matrix<T> decode(const Transformer<T>& model, std::span<const int> target, const Matrix<T>& memory,
                 AllMaps<T>* maps) {
  return run_stack<T>(model.decoder, target, &memory, maps ? &maps->decoder : nullptr);
}

/// A score of every word of the vocabulary: how well its row fits, and a bias. [L, D] → [L, V]
template <typename T>
Matrix<T> logits(const Transformer<T>& model, const Matrix<T>& rows) {
  const Matrix<T> fits = rows * model.output_scale * model.output.transpose();
  return fits.rowwise() + model.logits_bias;
}

/// ln softmax of every row: the logarithms of the words' probabilities. [L, V] → [L, V]
template <typename T>
Matrix<T> log_softmax(Matrix<T> x) {
  for (Index t = 0; t < x.rows(); ++t) {
    const T top = x.row(t).maxCoeff();
    x.row(t).array() -= top + std::log((x.row(t).array() - top).exp().sum());
  }
  return x;
}

/// One greedy step: the word that is likeliest behind the words so far.
template <typename T>
int next_word(const Transformer<T>& model, std::span<const int> target, const Matrix<T>& memory) {
  const Matrix<T> rows = decode<T>(model, target, memory, nullptr);  // [L, D]
  Index best = 0;
  logits<T>(model, rows.bottomRows(1)).row(0).maxCoeff(&best);  // [V]
  return static_cast<int>(best);
}

/// The translation, word by word: each step reads all that stands there, from `start` on, and
/// writes the next one, until it writes `end` or there are `most`.
template <typename T>
std::vector<int> translate(const Transformer<T>& model, std::span<const int> source, int start,
                           int end, Index most) {
  const Matrix<T> memory = encode<T>(model, source, nullptr);  // [S, D]
  std::vector<int> target{start};
  while (std::ssize(target) <= most) {
    target.push_back(next_word<T>(model, target, memory));
    if (target.back() == end) break;
  }
  return {target.begin() + 1, target.end()};
}

}  // namespace attn::paper
