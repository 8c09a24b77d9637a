// The amount that each token adds to the vectors of attention blocks: value-weighted maps
// (Kobayashi et al. 2020 and 2021), ALTI (Ferrando et al. 2022a) and ALTI+ (Ferrando et al.
// 2022b).
//
// A head adds Σ_s α_{t,s} f_h(x_s) with f_h(x) = (x W_V + b_V)_h W_O^h. The bias b_V is inside,
// because a row of α sums to 1; the output bias b_O is outside.
#pragma once

#include <string>

#include "config/attention_site.h"
#include "why/nd_array.h"
#include "why/trace.h"

namespace attn {

/// The maps of one attention site, for all its layers. L layers, H heads, T queries, S keys. In
/// cross-attention, the arrays with S+1 columns end with the residual connection; in
/// self-attention they have S columns, and the residual belongs to the token itself.
struct SiteContributions {
  NdArray value_weighted;        ///< [L, H, T, S] ‖α f_h(x_s)‖₂
  NdArray value_weighted_layer;  ///< [L, T, S] ‖Σ_h α f_h(x_s)‖₂
  NdArray res_ln_layer;          ///< [L, T, S or S+1] with the residual and the norm's linear part
  NdArray mixing_ratio;          ///< [L, T] ‖mixing‖ / (‖mixing‖ + ‖preserving‖)
  NdArray alti;                  ///< [L, T, S or S+1] rows sum to 1
  /// [L, H, T, S] ALTI's formula for the vectors of one head alone, without the residual; rows sum
  /// to 1. Only from make_site_contributions().
  NdArray alti_heads = {};
};

struct Contributions {
  SiteContributions encoder_self;
  SiteContributions decoder_self;
  SiteContributions cross;
  NdArray alti_plus_encoder;  ///< [S, S] product over the encoder's layers
  NdArray alti_plus_layers;   ///< [L, T, S+T] source tokens, then the decoder's input
  /// [T, S+T] after the last layer; rows sum to 1.
  NdArray alti_plus_total;
};

/// Returns the reason why contributions cannot be computed exactly for this pass; empty if they
/// can. Encoders whose attention reads keys that are not tokens have such a reason.
std::string contributions_obstacle(const Transformer& model, const Trace& trace);

/// Computes the lengths ‖α f_h(x_s)‖₂ of one site alone, [L, H, T, S]. Empty if its values are not
/// those of tokens.
NdArray value_weighted_maps(const Transformer& model, const Trace& trace, AttentionSite site);

/// Computes the maps of one site, with `alti_heads`. Throws InputError, naming the part, for an
/// encoder that has an obstacle; the decoder's sites have none.
SiteContributions make_site_contributions(const Transformer& model, const Trace& trace,
                                          AttentionSite site);

/// Computes all maps. Throws InputError with contributions_obstacle().
Contributions make_contributions(const Transformer& model, const Trace& trace);

}  // namespace attn
