// What is known of a kind of attention before anything is computed: its keys in a config, what
// fits, whether a decoder may have it, its parameters, its cost, its words. A kind is one file
// here, and one in nn/attention/kinds/, which computes it.
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

/// A self-attention that a kind is asked about.
struct SelfAttentionDims {
  const AttentionPattern& pattern;
  std::uint64_t max_positions = 0;  ///< longest sentence
  std::uint64_t inner_dim = 0;      ///< columns of all heads
  std::uint64_t heads = 0;

  /// At least 1, whatever sizes an unchecked config has.
  int head_dim() const;
};

/// A parameter that a kind has besides the projections.
struct ExtraParameter {
  std::string_view name;  ///< in a layer: "self_attn.proj_k"
  ParameterPart part;
  ParameterRole role;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// What a kind does, for people.
struct PatternDescription {
  std::string formula;
  std::string_view why;  ///< what it gives up, and for what
};

class SparsePattern {
 public:
  SparsePattern(PatternType type, std::string_view name) : type_(type), name_(name) {}
  SparsePattern(const SparsePattern&) = delete;
  SparsePattern& operator=(const SparsePattern&) = delete;
  virtual ~SparsePattern() = default;

  PatternType type() const { return type_; }
  std::string_view name() const { return name_; }  ///< "window"

  /// Its keys besides the type. InputError where one is missing or has another type.
  virtual void read(KeyReader& reader, AttentionPattern& pattern) const;
  virtual void write(const AttentionPattern& pattern, Json& json) const;
  /// InputError for what does not fit the stack.
  virtual void check(const PatternCheck& check) const;

  /// Whether queries see later keys too, so that no decoder can have it; `full` has a causal form.
  virtual bool is_encoder_only() const { return false; }
  /// Whether attention goes by way of something smaller than the keys: no list of keys says what it
  /// computes.
  virtual bool approximates() const { return false; }
  /// Whether a config chooses places of global tokens.
  virtual bool has_global_tokens() const { return false; }
  /// Whether heads of a layer look at different keys.
  virtual bool differs_per_head() const { return false; }
  /// Whether the tokens decide who looks at whom, not their places alone.
  virtual bool is_content_based() const { return false; }
  /// Whether every query sees every key of so many, or every earlier one.
  virtual bool is_dense(const AttentionPattern& pattern, Index keys) const;

  virtual std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const;
  /// Whether keys are the queries, without a projection of their own.
  virtual bool shares_query_and_key() const { return false; }

  /// Of `steps` steps of a decoder those whose keys some query still sees, its own among them; in
  /// all layers those of the one that sees most.
  virtual Index cached_steps(const AttentionPattern& pattern, Index steps) const;
  /// Where a step's keys are kept, of `kept` places: those that nobody sees any more give way.
  virtual Index cache_position(const AttentionPattern& pattern, Index step, Index kept) const;

  /// Multiply-adds of one head's products on the way there, for each of its columns; of kinds that
  /// approximate: others take those of the pairs that they see.
  virtual Index multiply_adds(const AttentionPattern& pattern, Index length, int head_dim) const;

  virtual PatternDescription description(const AttentionPattern& pattern, int head_dim) const = 0;
  /// Cut to a sentence of so many tokens: a row sees about a quarter of them.
  virtual AttentionPattern example_for(int tokens) const;
  /// As it is measured on sentences of `length` tokens.
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

/// In the order of PatternType.
std::span<const SparsePattern* const> all_sparse_patterns();

// What several kinds of attention share of reading and checking their keys.

/// InputError where the key is absent.
int read_required_integer(KeyReader& reader, const std::string& key);
/// "window": one even number, or a list of one a layer.
void read_windows(KeyReader& reader, AttentionPattern& pattern);
/// "global": places, [0] where nothing is said.
void read_globals(KeyReader& reader, AttentionPattern& pattern);

Json windows_json(const AttentionPattern& pattern);

/// √tokens, at least 1: a stride that leaves each row about as many far keys as near ones.
int stride_near_sqrt(Index tokens);
/// A quarter of the tokens, at least 2.
int quarter_of_tokens(int tokens);

/// A pattern while it is compared with its stack.
struct PatternCheck {
  const AttentionPattern& pattern;
  const PatternContext& stack;
  const std::string& where;
  const std::string& name;

  /// A key as the user wrote it.
  std::string written(std::string_view key) const;
  /// Each InputError, for a value outside of [least, most]; for an odd one of what size() has
  /// accepted, at most `most`; and for windows and global places that do not fit.
  void size(const char* key, int value, int least, int most) const;
  void even(const char* key, int value, int most) const;
  void windows() const;
  void globals() const;
};

// One function a kind, each in the file of its name.

const SparsePattern& full_pattern();            // full.cpp
const SparsePattern& window_pattern();          // window.cpp
const SparsePattern& longformer_pattern();      // longformer.cpp
const SparsePattern& bigbird_pattern();         // bigbird.cpp
const SparsePattern& sparse_strided_pattern();  // sparse_strided.cpp
const SparsePattern& sparse_fixed_pattern();    // sparse_fixed.cpp
const SparsePattern& chunks_pattern();          // chunks.cpp
const SparsePattern& linformer_pattern();       // linformer.cpp
const SparsePattern& performer_pattern();       // performer.cpp
const SparsePattern& lsh_pattern();             // lsh.cpp

}  // namespace attn
