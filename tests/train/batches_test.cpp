#include "train/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "small_corpus.h"

namespace attn::test {
namespace {

using Plan = std::vector<BatchPlan>;

std::vector<std::uint32_t> all_of(const Plan& plan) {
  std::vector<std::uint32_t> all;
  for (const BatchPlan& batch : plan) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

void check_every_pair_once(const Plan& plan, std::size_t size) {
  std::vector<std::uint32_t> all = all_of(plan);
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == size);
  for (std::size_t i = 0; i < size; ++i) CHECK(all[i] == i);
}

std::size_t longest(const Corpus& corpus, const BatchPlan& batch) {
  std::size_t most = 0;
  for (const std::uint32_t i : batch) {
    most = std::max({most, corpus.source.length(i), corpus.target.length(i)});
  }
  return most;
}

void check_budget(const Corpus& corpus, const Plan& plan, std::size_t budget) {
  for (const BatchPlan& batch : plan) {
    REQUIRE_FALSE(batch.empty());
    CHECK((batch.size() == 1 || batch.size() * longest(corpus, batch) <= budget));
  }
}

}  // namespace

TEST_CASE("every pair occurs once in an epoch, and every batch keeps the budget") {
  const Corpus corpus = mixed_corpus(331);
  for (const std::uint64_t budget : {31U, 100U, 1000U, 1000000U}) {
    for (const std::uint64_t epoch : {1U, 2U}) {
      const Plan plan = plan_epoch(corpus, budget, 3, epoch);
      check_every_pair_once(plan, corpus.size());
      check_budget(corpus, plan, budget);
    }
    const Plan plan = plan_by_length(corpus, budget);
    check_every_pair_once(plan, corpus.size());
    check_budget(corpus, plan, budget);
  }
  CHECK(plan_epoch(corpus, 1000000, 3, 1).size() == 1);
}

TEST_CASE("the budget counts the longer side, and is filled to its last token") {
  const Corpus corpus = corpus_of({{9, 2}, {3, 10}, {10, 3}, {2, 2}});
  CHECK(plan_by_length(corpus, 40).size() == 1);
  for (const BatchPlan& batch : plan_by_length(corpus, 39)) {
    CHECK(batch.size() * longest(corpus, batch) <= 39);
  }
  CHECK(plan_by_length(corpus, 39).size() == 2);
  CHECK(plan_by_length(corpus, 1).size() ==
        4);  // a pair larger than the budget becomes a batch of its own
}

TEST_CASE("the order depends on seed and epoch alone") {
  const Corpus corpus = mixed_corpus(200);
  const Plan plan = plan_epoch(corpus, 150, 1, 1);
  CHECK((plan == plan_epoch(corpus, 150, 1, 1)));
  CHECK_FALSE((plan == plan_epoch(corpus, 150, 1, 2)));
  CHECK_FALSE((plan == plan_epoch(corpus, 150, 2, 1)));
  CHECK((plan_by_length(corpus, 150) == plan_by_length(corpus, 150)));
}

TEST_CASE("sentences of like length are together, batches are not in order of length") {
  const Corpus corpus = mixed_corpus(400);
  const Plan plan = plan_epoch(corpus, 120, 1, 1);
  std::size_t padding = 0;
  std::size_t tokens = 0;
  std::vector<std::size_t> lengths;
  for (const BatchPlan& batch : plan) {
    std::size_t most = 0;
    for (const std::uint32_t i : batch) most = std::max(most, corpus.target.length(i));
    for (const std::uint32_t i : batch) {
      padding += most - corpus.target.length(i);
      tokens += corpus.target.length(i);
    }
    lengths.push_back(most);
  }
  CHECK(padding * 20 < tokens);
  CHECK_FALSE(std::is_sorted(lengths.begin(), lengths.end()));
  const std::vector<std::uint32_t> in_order = all_of(plan_by_length(corpus, 120));
  CHECK(std::is_sorted(in_order.begin(), in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return corpus.target.length(a) < corpus.target.length(b);
  }));
}

TEST_CASE("which equals share a batch changes from epoch to epoch") {
  const Corpus corpus = corpus_of(std::vector<std::pair<int, int>>(60, {5, 5}));
  Plan first = plan_epoch(corpus, 50, 1, 1);
  Plan second = plan_epoch(corpus, 50, 1, 2);
  for (Plan* plan : {&first, &second}) {
    for (BatchPlan& batch : *plan) std::sort(batch.begin(), batch.end());
    std::sort(plan->begin(), plan->end());
  }
  CHECK_FALSE((first == second));
}

TEST_CASE("an empty corpus has no batches") {
  CHECK(plan_epoch(Corpus(), 100, 1, 1).empty());
  CHECK(plan_by_length(Corpus(), 100).empty());
}

}  // namespace attn::test
