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
  relative_bias,  ///< T5's biases of relative positions
  global_tokens,
  low_rank,   ///< Linformer's
  features,   ///< Performer's, drawn once and not trained
  rotations,  ///< of LSH, likewise
  logits_bias
};

/// The part of the model that has a parameter: a stack, one of its layers, or the output after
/// both.
enum class ParameterPart {
  embedding,  ///< of a stack, as the next five
  positions,
  relative_bias,
  global_tokens,
  embedding_norm,
  final_norm,
  global_query,  ///< of a layer, as the next 21; an encoder's, for global tokens
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
