// The settings of an attention pattern: full attention, a sparse pattern of few keys, or a sparse
// approximation. sparse_pattern.h knows each pattern's properties; nn/attention/patterns/ computes
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/json.h"
#include "config/key_reader.h"

namespace attn {

enum class PatternType {
  full,
  window,
  longformer,
  bigbird,
  sparse_strided,
  sparse_fixed,
  chunks,
  linformer,
  performer,
  lsh
};

/// `model.encoder_attention` and `model.decoder_attention`. A member applies to the types in
/// its comment.
struct AttentionPattern {
  PatternType type = PatternType::full;
  std::vector<int> windows = {};    ///< window (window, longformer): even; one, or one per layer
  std::vector<Index> globals = {};  ///< global (longformer, chunks): ascending positions
  int block_size = 0;               ///< block_size (bigbird, chunks, lsh)
  int random_blocks = 0;            ///< random_blocks (bigbird)
  bool random_is_seeded = true;     ///< random (bigbird): seeded; else first, as transformers 5
                                    ///< computes in evaluation
  std::uint64_t seed = 1;           ///< seed (bigbird, seeded)
  int stride = 0;                   ///< stride (sparse_strided, sparse_fixed)
  int summary = 1;                  ///< summary (sparse_fixed): visible keys at a block's end
  bool shift = false;               ///< shift (chunks): odd layers move by half a block
  int rank = 0;                     ///< k (linformer): rows of projected keys and values
  int rounds = 0;                   ///< rounds (lsh)
  int buckets = 0;                  ///< buckets (lsh): even
  int features = 0;                 ///< m (performer): random features; 0: K · ln K
  bool orthogonal = true;           ///< orthogonal (performer): orthogonal features

  bool full() const { return type == PatternType::full; }
  /// Returns the number of features for heads of `head_dim` columns.
  int num_features(int head_dim) const;
  /// Returns the window of a layer.
  Index window(Index layer) const;
};

/// Returns "full", "window" and so on.
std::string_view pattern_name(PatternType type);

/// Reads the pattern under the key `name` of a config. Throws InputError for a key that its type
/// does not have and, if `causal`, for a type that sees later keys.
AttentionPattern read_pattern(const Json& json, const std::string& where, const std::string& name,
                              bool causal = false);

/// Writes the keys that read_pattern() reads.
Json to_json(const AttentionPattern& pattern);

/// Describes the type and its settings: "longformer, window 64, global [0]".
std::string describe_pattern(const AttentionPattern& pattern);

/// The stack that a pattern must fit.
struct PatternContext {
  bool causal = false;  ///< true in a decoder
  int layers = 1;
  int positions = 0;             ///< length of the longest sentence
  bool has_family_keys = false;  ///< a published family with its own config keys
};

/// Throws InputError for settings that do not fit the stack: odd windows, sizes of 0 or beyond the
/// positions, more random blocks than there are, or types that are not causal in a decoder. `name`
/// is the pattern's key as the user wrote it.
void check_pattern(const AttentionPattern& pattern, const PatternContext& stack,
                   const std::string& where, const std::string& name);

}  // namespace attn
