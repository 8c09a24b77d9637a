// Queries, which are the keys, too, see those of the same hash (Kitaev et al. 2020).
#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
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
  /// A head's K rows of the rotations together.
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const auto count = [](int n) { return std::uint64_t{to_size(std::max(n, 0))}; };
    return {{"self_attn.rotations", ParameterPart::self_rotations, ParameterRole::rotations, stack.inner_dim,
             count(stack.pattern.rounds) * count(stack.pattern.buckets / 2)}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length,
                      int /*head_dim*/) const override {
    if (length <= pattern.block_size) return 2 * length * length;
    return length * pattern.rounds * (4 * pattern.block_size + pattern.buckets / 2);
  }

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j ≠ i in its block of the order by hash, and in the block before; k = q / |q|",
            "It gives up keys of their own, the look at oneself and whatever hashes elsewhere, "
            "because large scores are those of like directions; a model that was trained with all "
            "of these feels it most."};
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
