// Settings with which a config of this program can replace parts of Marian's architecture:
// `head_dim`, `key_value_heads`, `position`, `norm` and `feed_forward`. docs/config.md has a table
// of the valid combinations.
#pragma once

#include <optional>
#include <string>

#include "config/model_config.h"

namespace attn {

class KeyReader;

/// The keys of relative positions, T5's: `otherwise` where they are absent. InputError for buckets
/// that are odd or fewer than 4, and for a greatest distance within the buckets that hold one
/// distance each.
RelativePositionBiasConfig read_relative_position_bias_config(
    KeyReader& reader, const RelativePositionBiasConfig& otherwise);
void write_relative_position_config(const RelativePositionBiasConfig& relative, Json& json);

/// What stands in `model` of the keys above; InputError for an unknown word, and for one that
/// contradicts static_position_embeddings.
void read_custom_architecture(KeyReader& reader, ModelConfig& config);

/// After the sizes have been read: what says no more than Marian's shape is taken for it.
void normalize_custom_architecture(ModelConfig& config);

/// Whether the model has any: no class of transformers computes it then.
bool has_custom_architecture(const ModelConfig& config);

/// Who cannot load such a model, and because of what, the place of M2M100's pad among it; nothing
/// for others.
std::optional<std::string> custom_architecture_note(const ModelConfig& config);

/// The same keys again, as far as they are not the usual.
void write_custom_architecture(const ModelConfig& config, Json& json);

/// InputError for heads that keys and values cannot be shared by, an odd head_dim that would be
/// turned, heads wider together than a model may be, and parts that a kind of attention cannot
/// have: those that go by way of something smaller than the keys take neither biases of distances
/// nor turned or shared keys.
void check_custom_architecture(const ModelConfig& config, const KeyNames& names);

}  // namespace attn
