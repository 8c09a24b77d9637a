// The role of a parameter, and the part of the model that holds it.
#pragma once

namespace attn {

/// The role of a parameter, which decides how it is initialized.
enum class ParameterRole {
  weight,
  bias,
  norm_weight,
  norm_bias,
  embedding,
  positions,
  relative_bias,  ///< T5's relative position bias
  global_tokens,
  low_rank,   ///< Linformer's
  features,   ///< Performer's random features, which are not trained
  rotations,  ///< LSH's random rotations, which are not trained
  logits_bias
};

/// The part of the model that has a parameter: a stack, one of its layers, or the output after
/// both.
enum class ParameterPart {
  embedding,  ///< of a stack, like the next five
  positions,
  relative_bias,
  global_tokens,
  embedding_norm,
  final_norm,
  global_query,  ///< of a layer, like the next 21; in an encoder, for global tokens
  global_key,
  global_value,
  global_norm,
  self_query,
  self_key,
  self_value,
  self_output,
  self_key_projection,
  self_value_projection,
  self_relative_bias,
  self_features,
  self_rotations,
  self_norm,
  cross_query,
  cross_key,
  cross_value,
  cross_output,
  cross_norm,
  feed_forward_first,
  feed_forward_gate,
  feed_forward_second,
  feed_forward_norm,
  output,  ///< of the model
  logits_bias
};

}  // namespace attn
