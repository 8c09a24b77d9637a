#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace attn {
namespace {

/// Sorts by the target's length, then the source's, keeps the order among equals, and cuts.
std::vector<BatchPlan> cut(const Corpus& corpus, std::vector<std::uint32_t> order,
                           std::uint64_t batch_tokens) {
  const auto longer = [&](std::uint32_t i) {
    return std::max(corpus.target.length(i), corpus.source.length(i));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (corpus.target.length(a) != corpus.target.length(b)) {
      return corpus.target.length(a) < corpus.target.length(b);
    }
    return corpus.source.length(a) < corpus.source.length(b);
  });
  std::vector<BatchPlan> batches;
  std::size_t longest = 0;
  for (const std::uint32_t i : order) {
    const std::size_t with_this = std::max(longest, longer(i));
    if (batches.empty() || with_this * (batches.back().size() + 1) > batch_tokens) {
      batches.emplace_back();
      longest = longer(i);
    } else {
      longest = with_this;
    }
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::uint32_t> all_of(const Corpus& corpus) {
  std::vector<std::uint32_t> order(corpus.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

}  // namespace

std::vector<BatchPlan> plan_epoch(const Corpus& corpus, std::uint64_t batch_tokens,
                                  std::uint64_t seed, std::uint64_t epoch) {
  RandomGenerator random(seed, "epoch", epoch);
  std::vector<std::uint32_t> order = all_of(corpus);
  shuffle(order, random);
  std::vector<BatchPlan> batches = cut(corpus, std::move(order), batch_tokens);
  shuffle(batches, random);
  return batches;
}

std::vector<BatchPlan> plan_by_length(const Corpus& corpus, std::uint64_t batch_tokens) {
  return cut(corpus, all_of(corpus), batch_tokens);
}

}  // namespace attn
