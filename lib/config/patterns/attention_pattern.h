// Which keys a query looks at: all of them, a pattern of few, or all by way of something smaller.
// What is known of each kind stands in kinds/, a file a kind, and what it computes in files of the
// same names in nn/attention/kinds/.
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

/// `model.encoder_attention` and `model.decoder_attention`. A member counts for the types that its
/// comment names.
struct AttentionPattern {
  PatternType type = PatternType::full;
  std::vector<int> windows = {};    ///< window (window, longformer): even; one, or one a layer
  std::vector<Index> globals = {};  ///< global (longformer, chunks): places, rising
  int block_size = 0;               ///< block_size (bigbird, chunks, lsh)
  int random_blocks = 0;            ///< random_blocks (bigbird)
  bool random_is_seeded = true;     ///< random (bigbird): seeded; else first, as transformers 5
                                    ///< computes in evaluation
  std::uint64_t seed = 1;           ///< seed (bigbird, seeded)
  int stride = 0;                   ///< stride (sparse_strided, sparse_fixed)
  int summary = 1;                  ///< summary (sparse_fixed): keys at a block's end that all see
  bool shift = false;               ///< shift (chunks): odd layers move by half a block
  int rank = 0;                     ///< k (linformer): rows that keys and values become
  int rounds = 0;                   ///< rounds (lsh)
  int buckets = 0;                  ///< buckets (lsh): even
  int features = 0;                 ///< m (performer): random features; 0: K · ln K
  bool orthogonal = true;           ///< orthogonal (performer): features; else independent ones

  bool full() const { return type == PatternType::full; }
  /// Of heads of `head_dim` columns.
  int num_features(int head_dim) const;
  /// Of layer number `layer`.
  Index window(Index layer) const;
};

/// "full", "window", …
std::string_view pattern_name(PatternType type);

/// Reads the pattern that a config calls `name`, strictly: InputError for a key that its type has
/// not, and, with `causal`, for a type that looks ahead.
AttentionPattern read_pattern(const Json& json, const std::string& where, const std::string& name,
                              bool causal = false);

/// The same keys again.
Json to_json(const AttentionPattern& pattern);

/// "longformer, window 64, global [0]": the type, and its keys.
std::string describe_pattern(const AttentionPattern& pattern);

/// What a stack can have.
struct PatternContext {
  bool causal = false;  ///< the decoder's: no key behind the query
  int layers = 1;
  int positions = 0;             ///< longest sentence
  bool has_family_keys = false;  ///< a published family's, whose config has keys of its own
};

/// InputError for what does not fit the stack: odd windows, sizes of 0 or beyond the positions,
/// random blocks more than there are, types that are not causal in a decoder. `name` is the
/// pattern's key as the user wrote it.
void check_pattern(const AttentionPattern& pattern, const PatternContext& stack,
                   const std::string& where, const std::string& name);

}  // namespace attn
