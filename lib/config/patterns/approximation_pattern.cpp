// The sparse approximations: linformer projects keys and values to k rows (Wang et al. 2020),
// performer uses random features (Choromanski et al. 2021), lsh hashes (Kitaev et al. 2020).
#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

class LinformerPattern : public SparsePattern {
 public:
  LinformerPattern() : SparsePattern(PatternType::linformer, "linformer") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.rank = read_required_integer(reader, "k");
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["k"] = pattern.rank;
  }
  void check(const PatternCheck& check) const override {
    check.size("k", check.pattern.rank, 1, check.stack.positions);
  }

  bool is_encoder_only() const override { return true; }
  bool approximates() const override { return true; }
  /// Returns E and F [P, k].
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const std::uint64_t rank = to_size(std::max(stack.pattern.rank, 0));
    return {{"self_attn.proj_k", ParameterPart::self_key_projection, ParameterRole::low_rank,
             stack.max_positions, rank},
            {"self_attn.proj_v", ParameterPart::self_value_projection, ParameterRole::low_rank,
             stack.max_positions, rank}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length,
                      int /*head_dim*/) const override {
    return 4 * length * pattern.rank;
  }

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"softmax(Q · (Eᵀ · K)ᵀ / √head_dim) · Fᵀ · V",
            "It cannot tell the words of a mixture apart, because keys and values become k rows "
            "before any query looks (here, means of neighbours; a trained E chooses better)."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.rank = std::min(quarter_of_tokens(tokens), std::max(1, tokens));
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.rank = 256;
    return pattern;
  }
};

}  // namespace

const SparsePattern& linformer_pattern() {
  static const LinformerPattern kind;
  return kind;
}

// Performer: random features estimate the softmax, and their sums over the keys serve all queries
// (Choromanski et al. 2021).
namespace {

class PerformerPattern : public SparsePattern {
 public:
  PerformerPattern() : SparsePattern(PatternType::performer, "performer") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    if (const std::optional<int> features = reader.integer("m")) {
      if (*features < 1) {
        reader.fail("m", fmt::format("is {}; use at least 1, or leave it out for head_dim · ln "
                                     "head_dim",
                                     *features));
      }
      pattern.features = *features;
    }
    pattern.orthogonal = reader.boolean("orthogonal").value_or(true);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    if (pattern.features > 0) json["m"] = pattern.features;
    json["orthogonal"] = pattern.orthogonal;
  }
  void check(const PatternCheck& check) const override {
    const int features = check.pattern.features;
    if (features > 0) check.size("m", features, 1, check.stack.positions);
  }

  bool approximates() const override { return true; }
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const int head_dim = stack.head_dim();
    return {{"self_attn.projection_matrix", ParameterPart::self_features, ParameterRole::features,
             to_size(stack.pattern.num_features(head_dim)), to_size(head_dim)}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length, int head_dim) const override {
    return 4 * length * pattern.num_features(head_dim);
  }

  PatternDescription description(const AttentionPattern& pattern, int head_dim) const override {
    return {fmt::format("a_ij ∝ φ(q_i) · φ(k_j), φ of m = {} random features",
                        pattern.num_features(head_dim)),
            "It gives up exact weights: a query sees all words, but each score is an estimate, and "
            "the estimate is worst if a query looks at one word only."};
  }
};

}  // namespace

const SparsePattern& performer_pattern() {
  static const PerformerPattern kind;
  return kind;
}

// LSH: queries, which are also the keys, see the tokens with the same hash (Kitaev et al. 2020).
namespace {

constexpr int kMostRounds = 64;
constexpr int kMostBuckets = 65'536;

class LshPattern : public SparsePattern {
 public:
  LshPattern() : SparsePattern(PatternType::lsh, "lsh") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.block_size = read_required_integer(reader, "block_size");
    pattern.rounds = reader.integer("rounds").value_or(2);
    pattern.buckets = read_required_integer(reader, "buckets");
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["block_size"] = pattern.block_size;
    json["rounds"] = pattern.rounds;
    json["buckets"] = pattern.buckets;
  }
  void check(const PatternCheck& check) const override {
    const AttentionPattern& pattern = check.pattern;
    check.size("block_size", pattern.block_size, 1, check.stack.positions);
    if (pattern.rounds < 1 || pattern.rounds > kMostRounds) {
      throw InputError("{}: {}.rounds is {}; use 1 to {}", check.where, check.name, pattern.rounds,
                       kMostRounds);
    }
    if (pattern.buckets < 2 || pattern.buckets > kMostBuckets) {
      throw InputError("{}: {}.buckets is {}; use 2 to {}", check.where, check.name,
                       pattern.buckets, kMostBuckets);
    }
    if (pattern.buckets % 2 == 0) return;
    throw InputError(
        "{}: {}.buckets is {}, which is odd; each rotation and its opposite are a bucket, so use "
        "{} "
        "or {}",
        check.where, check.name, pattern.buckets, pattern.buckets - 1, pattern.buckets + 1);
  }

  bool is_encoder_only() const override { return true; }
  bool approximates() const override { return true; }
  bool is_content_based() const override { return true; }
  bool shares_query_and_key() const override { return true; }
  /// Returns the rotations: K rows per head.
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const auto count = [](int n) { return std::uint64_t{to_size(std::max(n, 0))}; };
    return {{"self_attn.rotations", ParameterPart::self_rotations, ParameterRole::rotations,
             stack.inner_dim, count(stack.pattern.rounds) * count(stack.pattern.buckets / 2)}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length,
                      int /*head_dim*/) const override {
    if (length <= pattern.block_size) return 2 * length * length;
    return length * pattern.rounds * (4 * pattern.block_size + pattern.buckets / 2);
  }

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j ≠ i in its block of the order by hash, and in the block before; k = q / |q|",
            "It gives up separate keys, looking at the word itself, and all words in other "
            "buckets, because vectors of similar direction have the largest scores; a model that "
            "was trained with all of these suffers most."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = quarter_of_tokens(tokens);
    pattern.rounds = 2;
    pattern.buckets = 4;
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = 64;
    pattern.rounds = 2;
    pattern.buckets = 64;
    return pattern;
  }
};

}  // namespace

const SparsePattern& lsh_pattern() {
  static const LshPattern kind;
  return kind;
}

}  // namespace attn
