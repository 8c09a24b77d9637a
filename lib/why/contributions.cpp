#include "why/contributions.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/attention_pattern.h"

namespace attn {
namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DoubleRow = Eigen::Matrix<double, 1, Eigen::Dynamic>;

/// One attention block of a layer with its parameters.
struct Block {
  const AttentionTrace& trace;
  const Parameter& projection;  ///< W_O [I, D]
  const LayerNorm& norm;
  bool norm_follows;  ///< post-norm
  bool cross;         ///< cross-attention: the residual is a column of its own

  Index queries() const { return trace.input.rows(); }
  Index keys() const { return trace.values.front().rows(); }
  Index columns() const { return keys() + (cross ? 1 : 0); }
};

/// Returns f_h(x_s) for every key of a head: values · W_O^h, [S, D].
Doubles head_vectors(const Block& block, Index head) {
  const Matrix& values = at(block.trace.values, head);
  const Index head_dim = values.cols();
  Matrix transposed(block.projection.columns, head_dim);
  for (Index j = 0; j < transposed.rows(); ++j) {
    block.projection.copy_column(j, head * head_dim, head_dim, transposed.row(j).data());
  }
  return values.cast<double>() * transposed.transpose().cast<double>();
}

/// Applies the linear part of the norm that read row t of `sum`, with that row's σ: g ⊙ (x −
/// mean(x)) / σ_t for each row x; RMSNorm does not subtract the mean.
void apply_linear_norm(const LayerNorm& norm, const DoubleRow& sum, Doubles& rows) {
  const bool centers = norm.kind == NormType::layer;
  DoubleRow x = sum;
  if (centers) x.array() -= x.mean();
  const double variance = x.squaredNorm() / static_cast<double>(x.size());
  const double sigma = std::sqrt(variance + static_cast<double>(norm.epsilon));
  for (Index s = 0; s < rows.rows(); ++s) {
    if (centers) rows.row(s).array() -= rows.row(s).mean();
    for (Index j = 0; j < rows.cols(); ++j) rows(s, j) *= norm.weight.at(0, j) / sigma;
  }
}

/// Writes a row of ALTI: c_s = max(0, ‖y‖₁ − ‖y − T_s‖₁), divided by their sum. If all are 0, the
/// nearest vector gets everything.
void alti_row(const DoubleRow& y, const Doubles& vectors, std::span<float> out) {
  DoubleRow c(vectors.rows());
  Index nearest = 0;
  double least = 0;
  for (Index s = 0; s < vectors.rows(); ++s) {
    const double distance = (y - vectors.row(s)).lpNorm<1>();
    if (s == 0 || distance < least) {
      least = distance;
      nearest = s;
    }
    c(s) = std::max(0.0, y.lpNorm<1>() - distance);
  }
  const double total = c.sum();
  for (Index s = 0; s < c.size(); ++s) {
    at(out, s) = static_cast<float>(total > 0 ? c(s) / total : (s == nearest ? 1.0 : 0.0));
  }
}

/// Adds the maps of query t. `heads` are its head_vectors().
void add_query(const Block& block, const std::vector<Doubles>& heads, Index layer, Index t,
               SiteContributions& out) {
  Doubles vectors = Doubles::Zero(block.columns(), block.trace.input.cols());
  for (Index h = 0; h < std::ssize(heads); ++h) {
    for (Index s = 0; s < block.keys(); ++s) {
      const auto weight = static_cast<double>(at(block.trace.weights, h)(t, s));
      if (weight != 0) vectors.row(s) += weight * at(heads, h).row(s);
    }
  }
  for (Index s = 0; s < block.keys(); ++s) {
    out.value_weighted_layer(layer, t, s) = static_cast<float>(vectors.row(s).norm());
  }
  const Index own = block.cross ? block.keys() : t;  // the residual's row
  vectors.row(own) += block.trace.input.row(t).cast<double>();
  if (block.norm_follows) {
    apply_linear_norm(block.norm, block.trace.sum.row(t).cast<double>(), vectors);
  }
  for (Index s = 0; s < vectors.rows(); ++s) {
    out.res_ln_layer(layer, t, s) = static_cast<float>(vectors.row(s).norm());
  }
  const double preserving = vectors.row(own).norm();
  const double mixing = (vectors.colwise().sum() - vectors.row(own)).norm();
  out.mixing_ratio(layer, t) = static_cast<float>(mixing / (mixing + preserving));
  alti_row(block.trace.output.row(t).cast<double>(), vectors, out.alti.row(layer, t));
}

/// Writes ALTI's row of each head's vectors alone.
void add_head_alti(const Block& block, const std::vector<Doubles>& heads, Index layer, Index t,
                   NdArray& out) {
  const DoubleRow output = block.trace.output.row(t).cast<double>();
  for (Index h = 0; h < std::ssize(heads); ++h) {
    Doubles vectors = at(heads, h);
    for (Index s = 0; s < vectors.rows(); ++s) {
      vectors.row(s) *= static_cast<double>(at(block.trace.weights, h)(t, s));
    }
    if (block.norm_follows) {
      apply_linear_norm(block.norm, block.trace.sum.row(t).cast<double>(), vectors);
    }
    alti_row(output, vectors, out.row(layer, h, t));
  }
}

/// Adds the lengths of a head's weighted vectors; `vectors` are its head_vectors().
void add_lengths(const Block& block, const Doubles& vectors, Index layer, Index h, NdArray& out) {
  const Matrix& weights = at(block.trace.weights, h);
  for (Index s = 0; s < block.keys(); ++s) {
    const double norm = vectors.row(s).norm();
    for (Index t = 0; t < block.queries(); ++t) {
      out(layer, h, t, s) = static_cast<float>(std::abs(weights(t, s)) * norm);
    }
  }
}

/// Adds the maps of one block to those of its site.
void add_block(const Block& block, Index layer, SiteContributions& out) {
  std::vector<Doubles> heads;
  for (Index h = 0; h < std::ssize(block.trace.values); ++h) {
    heads.push_back(head_vectors(block, h));
    add_lengths(block, heads.back(), layer, h, out.value_weighted);
  }
  for (Index t = 0; t < block.queries(); ++t) {
    add_query(block, heads, layer, t, out);
    if (!out.alti_heads.empty()) add_head_alti(block, heads, layer, t, out.alti_heads);
  }
}

SiteContributions empty_site(Index layers, const Block& block) {
  const Index T = block.queries(), S = block.keys(), H = std::ssize(block.trace.values);
  return {NdArray({layers, H, T, S}),
          NdArray({layers, T, S}),
          NdArray({layers, T, block.columns()}),
          NdArray({layers, T}),
          NdArray({layers, T, block.columns()}),
          {}};
}

/// Returns the block of a layer.
Block block_of(const Transformer& model, const Trace& trace, AttentionSite site, Index layer) {
  const ModelParameters& p = model.parameters();
  const bool post_norm = !model.config().normalize_before;
  if (site == AttentionSite::encoder_self) {
    const EncoderLayer& of = at(p.encoder_layers, layer);
    return {at(trace.encoder.layers, layer).self, of.self_attention.output.weight,
            of.self_attention_norm, post_norm, false};
  }
  const DecoderLayer& of = at(p.decoder_layers, layer);
  const LayerTrace& seen = at(trace.decoder.layers, layer);
  if (site == AttentionSite::decoder_self) {
    return {seen.self, of.self_attention.output.weight, of.self_attention_norm, post_norm, false};
  }
  return {seen.cross, of.cross_attention.output.weight, of.cross_attention_norm, post_norm, true};
}

Index layers_of(const Trace& trace, AttentionSite site) {
  return std::ssize(site == AttentionSite::encoder_self ? trace.encoder.layers
                                                        : trace.decoder.layers);
}

SiteContributions site_contributions(const Transformer& model, const Trace& trace,
                                     AttentionSite site, bool head_alti) {
  const Index layers = layers_of(trace, site);
  SiteContributions out = empty_site(layers, block_of(model, trace, site, 0));
  if (head_alti) out.alti_heads = NdArray(out.value_weighted.shape);
  for (Index l = 0; l < layers; ++l) add_block(block_of(model, trace, site, l), l, out);
  return out;
}

Doubles layer_of(const NdArray& alti, Index layer) {
  const Index T = alti.shape[1], S = alti.shape[2];
  Doubles out(T, S);
  for (Index t = 0; t < T; ++t) {
    for (Index s = 0; s < S; ++s) out(t, s) = alti(layer, t, s);
  }
  return out;
}

void copy_to(const Doubles& from, float* to) {
  std::transform(from.data(), from.data() + from.size(), to,
                 [](double value) { return static_cast<float>(value); });
}

/// ALTI+: R_l = [cross_l · C + r ⊙ self_l · R_{l−1}[:, :S] | r ⊙ self_l · R_{l−1}[:, S:]], R_0 = [0
/// | I], C the product over the encoder's layers, r the residual's share in cross-attention.
void roll_out(Contributions& c) {
  Doubles encoder = layer_of(c.encoder_self.alti, 0);
  for (Index l = 1; l < c.encoder_self.alti.shape[0]; ++l) {
    encoder = layer_of(c.encoder_self.alti, l) * encoder;
  }
  const Index L = c.cross.alti.shape[0], T = c.cross.alti.shape[1], S = encoder.rows();
  c.alti_plus_encoder = NdArray({S, S});
  copy_to(encoder, c.alti_plus_encoder.values.data());
  c.alti_plus_layers = NdArray({L, T, S + T});
  c.alti_plus_total = NdArray({T, S + T});
  Doubles rollout = Doubles::Zero(T, S + T);
  rollout.rightCols(T).setIdentity();
  for (Index l = 0; l < L; ++l) {
    const Doubles cross = layer_of(c.cross.alti, l);
    const Doubles self = layer_of(c.decoder_self.alti, l);
    rollout = (cross.col(S).asDiagonal() * self * rollout).eval();
    rollout.leftCols(S) += cross.leftCols(S) * encoder;
    copy_to(rollout, &c.alti_plus_layers(l));
  }
  copy_to(rollout, c.alti_plus_total.values.data());
}

}  // namespace

std::string contributions_obstacle(const Transformer& model, const Trace& trace) {
  for (const LayerTrace& layer : trace.encoder.layers) {
    if (layer.self.values_are_of_tokens) continue;
    const ModelConfig& config = model.config();
    if (config.encoder_attention.type == PatternType::linformer) {
      return "linformer's encoder attends to mixtures of tokens";
    }
    return fmt::format("the global tokens of {}'s encoder have keys and values of their own",
                       config.model_type);
  }
  return "";
}

NdArray value_weighted_maps(const Transformer& model, const Trace& trace, AttentionSite site) {
  NdArray out;
  for (Index l = 0; l < layers_of(trace, site); ++l) {
    const Block block = block_of(model, trace, site, l);
    if (!block.trace.values_are_of_tokens) return {};
    const Index heads = std::ssize(block.trace.values);
    if (out.empty()) out = NdArray({layers_of(trace, site), heads, block.queries(), block.keys()});
    for (Index h = 0; h < heads; ++h) add_lengths(block, head_vectors(block, h), l, h, out);
  }
  return out;
}

SiteContributions make_site_contributions(const Transformer& model, const Trace& trace,
                                          AttentionSite site) {
  if (site == AttentionSite::encoder_self) {
    if (const std::string obstacle = contributions_obstacle(model, trace); !obstacle.empty()) {
      throw InputError("values cannot be shown: {}; heads of cross and decoder are exact",
                       obstacle);
    }
  }
  return site_contributions(model, trace, site, true);
}

Contributions make_contributions(const Transformer& model, const Trace& trace) {
  if (const std::string obstacle = contributions_obstacle(model, trace); !obstacle.empty()) {
    throw InputError("contributions: {}; leave them out, receipt and occlusion are exact",
                     obstacle);
  }
  Contributions c;
  c.encoder_self = site_contributions(model, trace, AttentionSite::encoder_self, false);
  c.decoder_self = site_contributions(model, trace, AttentionSite::decoder_self, false);
  c.cross = site_contributions(model, trace, AttentionSite::cross, false);
  roll_out(c);
  return c;
}

}  // namespace attn
