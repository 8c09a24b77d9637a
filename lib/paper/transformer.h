// The whole Transformer (figure 1 of the paper): tokens in, tokens out.
#pragma once

#include "paper/layer.h"

namespace attn::paper {

/// The paper alternates sines and cosines; Marian's models have all sines first.
enum class SinusoidLayout { interleaved, sines_first };

/// Section 3.5: attention does not see where a token stands, so a pattern of waves is added to it:
///   PE(p, 2i) = sin(p / 10000^(2i/D)),  PE(p, 2i + 1) = cos(p / 10000^(2i/D))
inline Matrix sinusoids(Index positions, Index d_model,
                        SinusoidLayout layout = SinusoidLayout::interleaved) {
  const bool interleaved = layout == SinusoidLayout::interleaved;
  const Index sines = (d_model + 1) / 2;
  Matrix table(positions, d_model);  // [positions, D]
  for (Index p = 0; p < positions; ++p) {
    for (Index i = 0; i < sines; ++i) {
      const double angle = double(p) / std::pow(10000.0, 2.0 * double(i) / double(d_model));
      const Index sine = interleaved ? 2 * i : i, cosine = interleaved ? 2 * i + 1 : sines + i;
      table(p, sine) = std::sin(angle);
      if (cosine < d_model) table(p, cosine) = std::cos(angle);
    }
  }
  return table;
}

/// Sections 3.4 and 3.5: a token's row is its embedding · √D, plus the row of its position.
struct Embedding {
  Matrix tokens;     ///< [V, D]
  Matrix positions;  ///< [longest sentence, D]: sinusoids(), or learned
  double scale = 1;  ///< √D
  Matrix operator()(Tokens sentence) const {
    Matrix x(std::ssize(sentence), tokens.cols());  // [L, D]
    for (Index t = 0; t < x.rows(); ++t) {
      x.row(t) = tokens.row(sentence[std::size_t(t)]) * scale + positions.row(t);
    }
    return x;
  }
};

/// If embeddings and output are tied (section 3.4), the same numbers are here three times.
struct Transformer {
  Embedding source, target;
  std::vector<EncoderLayer> encoder;
  std::vector<DecoderLayer> decoder;
  Linear output;  ///< [D, V]
};

/// Reads the source sentence. The last layer's output [S, D] is what the decoder calls memory.
inline std::vector<EncoderLayerCache> encode(const Transformer& model, Tokens source) {
  std::vector<EncoderLayerCache> layers;
  Matrix x = model.source(source);  // [S, D]
  for (const EncoderLayer& layer : model.encoder) {
    layers.push_back(encoder_layer(layer, x));
    x = layers.back().output();
  }
  return layers;
}

/// Reads the target so far. From row t of the last output [L, D], `output` scores what follows t.
inline std::vector<DecoderLayerCache> decode(const Transformer& model, Tokens target,
                                             const Matrix& memory) {
  std::vector<DecoderLayerCache> layers;
  Matrix x = model.target(target);  // [L, D]
  for (const DecoderLayer& layer : model.decoder) {
    layers.push_back(decoder_layer(layer, x, memory));
    x = layers.back().output();
  }
  return layers;
}

/// Greedy search: appends the likeliest token until that is `end`, at most `max_length` times.
inline std::vector<int> translate(const Transformer& model, Tokens source, int start, int end,
                                  Index max_length) {
  const Matrix memory = encode(model, source).back().output();  // [S, D]
  std::vector<int> target{start};
  while (std::ssize(target) <= max_length && (target.size() == 1 || target.back() != end)) {
    const Matrix rows = decode(model, target, memory).back().output();  // [L, D]
    Index likeliest = 0;
    model.output(rows.bottomRows(1)).row(0).maxCoeff(&likeliest);  // of [V]
    target.push_back(static_cast<int>(likeliest));
  }
  return {target.begin() + 1, target.end()};
}

}  // namespace attn::paper
