// The properties of each attention pattern that are known without computing: its keys in a config,
// checks, whether a decoder may use it, its parameters, cost and description. How a pattern is
// computed is in nn/attention/patterns/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/json.h"
#include "config/parameter_part.h"
#include "config/patterns/attention_pattern.h"

namespace attn {

struct PatternCheck;

/// The self-attention of a stack, for questions about its pattern.
struct SelfAttentionDims {
  const AttentionPattern& pattern;
  std::uint64_t max_positions = 0;  ///< length of the longest sentence
  std::uint64_t inner_dim = 0;      ///< columns of all heads
  std::uint64_t heads = 0;

  /// Returns at least 1, even for the sizes of an unchecked config.
  int head_dim() const;
};

/// A parameter of a pattern, besides the projections.
struct ExtraParameter {
  std::string_view name;  ///< in a layer: "self_attn.proj_k"
  ParameterPart part;
  ParameterRole role;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// A description of a pattern for people.
struct PatternDescription {
  std::string formula;
  std::string_view why;  ///< its trade-off
};

class SparsePattern {
 public:
  SparsePattern(PatternType type, std::string_view name) : type_(type), name_(name) {}
  SparsePattern(const SparsePattern&) = delete;
  SparsePattern& operator=(const SparsePattern&) = delete;
  virtual ~SparsePattern() = default;

  PatternType type() const { return type_; }
  std::string_view name() const { return name_; }  ///< "window"

  /// Reads its keys besides the type. Throws InputError if one is missing or has the wrong type.
  virtual void read(KeyReader& reader, AttentionPattern& pattern) const;
  virtual void write(const AttentionPattern& pattern, Json& json) const;
  /// Throws InputError for settings that do not fit the stack.
  virtual void check(const PatternCheck& check) const;

  /// True if queries also see later keys, so that a decoder cannot use it. `full` has a causal
  /// form.
  virtual bool is_encoder_only() const { return false; }
  /// True for a sparse approximation, which has no list of keys per query.
  virtual bool approximates() const { return false; }
  /// True if a config chooses the positions of global tokens.
  virtual bool has_global_tokens() const { return false; }
  /// True if the heads of a layer see different keys.
  virtual bool differs_per_head() const { return false; }
  /// True if the visible keys depend on the tokens and not only on their positions.
  virtual bool is_content_based() const { return false; }
  /// True if every query sees every key, or every earlier key, of a sentence with this many keys.
  virtual bool is_dense(const AttentionPattern& pattern, Index keys) const;

  virtual std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const;
  /// True if keys and queries share one projection.
  virtual bool shares_query_and_key() const { return false; }

  /// Returns how many of `steps` decoding steps must be cached: those whose keys a query can still
  /// see, including its own, in the layer that sees most.
  virtual Index cached_steps(const AttentionPattern& pattern, Index steps) const;
  /// Returns which of `kept` cache positions a step's keys take. Positions that no query can see
  /// any more are reused.
  virtual Index cache_position(const AttentionPattern& pattern, Index step, Index kept) const;

  /// Returns the multiply-adds of one head of a sparse approximation, per column. The cost of other
  /// patterns follows from the pairs that they compute.
  virtual Index multiply_adds(const AttentionPattern& pattern, Index length, int head_dim) const;

  virtual PatternDescription description(const AttentionPattern& pattern, int head_dim) const = 0;
  /// Returns settings for a sentence of this many tokens, so that a row sees about a quarter of
  /// them.
  virtual AttentionPattern example_for(int tokens) const;
  /// Returns the settings that benchmarks use for sentences of `length` tokens.
  virtual AttentionPattern benchmark_for(Index length) const;

 protected:
  AttentionPattern default_pattern() const;

 private:
  PatternType type_;
  std::string_view name_;
};

const SparsePattern& sparse_pattern(PatternType type);
inline const SparsePattern& sparse_pattern(const AttentionPattern& pattern) {
  return sparse_pattern(pattern.type);
}

/// Returns all patterns in the order of PatternType.
std::span<const SparsePattern* const> all_sparse_patterns();

// Functions that several patterns share for reading and checking their keys.

/// Reads an integer. Throws InputError if the key is absent.
int read_required_integer(KeyReader& reader, const std::string& key);
/// Reads "window": one even number, or a list with one per layer.
void read_windows(KeyReader& reader, AttentionPattern& pattern);
/// Reads "global": positions, [0] if absent.
void read_globals(KeyReader& reader, AttentionPattern& pattern);

Json windows_json(const AttentionPattern& pattern);

/// Returns √tokens, at least 1: with this stride, each row sees about as many far keys as near
/// ones.
int stride_near_sqrt(Index tokens);
/// Returns a quarter of the tokens, at least 2.
int quarter_of_tokens(int tokens);

/// Checks a pattern against its stack.
struct PatternCheck {
  const AttentionPattern& pattern;
  const PatternContext& stack;
  const std::string& where;
  const std::string& name;

  /// Returns a key as the user wrote it.
  std::string written(std::string_view key) const;
  /// These throw InputError: size() for a value outside [least, most], even() for an odd value or
  /// one above `most` (after size() has accepted it), windows() and globals() for windows and
  /// global positions that do not fit.
  void size(const char* key, int value, int least, int most) const;
  void even(const char* key, int value, int most) const;
  void windows() const;
  void globals() const;
};

// The patterns, each in the file of its name.

const SparsePattern& full_pattern();            // sparse_pattern.cpp
const SparsePattern& window_pattern();          // window_pattern.cpp
const SparsePattern& longformer_pattern();      // window_pattern.cpp
const SparsePattern& bigbird_pattern();         // block_pattern.cpp
const SparsePattern& sparse_strided_pattern();  // sparse_transformer_pattern.cpp
const SparsePattern& sparse_fixed_pattern();    // sparse_transformer_pattern.cpp
const SparsePattern& chunks_pattern();          // block_pattern.cpp
const SparsePattern& linformer_pattern();       // approximation_pattern.cpp
const SparsePattern& performer_pattern();       // approximation_pattern.cpp
const SparsePattern& lsh_pattern();             // approximation_pattern.cpp

}  // namespace attn
