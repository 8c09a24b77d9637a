// Settings with which a config of this program can replace parts of Marian's architecture:
// `head_dim`, `key_value_heads`, `position`, `norm` and `feed_forward`. docs/config.md has a table
// of the valid combinations.
#pragma once

#include <optional>
#include <string>

#include "config/model_config.h"

namespace attn {

class KeyReader;

/// Reads T5's keys for the relative position bias; returns `otherwise` if they are absent. Throws
/// InputError for a number of buckets that is odd or less than 4, and for a maximum distance
/// within the buckets that hold one distance each.
RelativePositionBiasConfig read_relative_position_bias_config(
    KeyReader& reader, const RelativePositionBiasConfig& otherwise);
void write_relative_position_config(const RelativePositionBiasConfig& relative, Json& json);

/// Reads the keys above from `model`. Throws InputError for an unknown word, and for one that
/// contradicts static_position_embeddings.
void read_custom_architecture(KeyReader& reader, ModelConfig& config);

/// Removes settings that describe nothing but Marian's own shape. Called after the sizes have been
/// read.
void normalize_custom_architecture(ModelConfig& config);

/// True if the model has any of these parts. Then no class of transformers computes it.
bool has_custom_architecture(const ModelConfig& config);

/// Returns which programs cannot load such a model and why, including the position of M2M100's
/// pad; nothing for other models.
std::optional<std::string> custom_architecture_note(const ModelConfig& config);

/// Writes the same keys, except for default values.
void write_custom_architecture(const ModelConfig& config, Json& json);

/// Throws InputError for a number of heads that cannot share keys and values, an odd head_dim with
/// rotary position embedding, heads that together are wider than a model may be, and parts that a
/// sparse pattern does not support: patterns that compress the keys first take neither a relative
/// position bias nor rotary or shared keys.
void check_custom_architecture(const ModelConfig& config, const KeyNames& names);

}  // namespace attn
