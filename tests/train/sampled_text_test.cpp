#include "train/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "compute/threads.h"
#include "train/run/run_ownership.h"
#include "train/trainer.h"

namespace attn::test {
namespace {

const std::string kJointTokenizer = std::string(ATTN_SOURCE_DIR) + "/tests/golden/tokenizer/joint";
constexpr std::size_t kMostTokens = 30;

/// Returns 300 pairs, among others that a corpus skips.
ParallelText some_text() {
  ParallelText text;
  for (int i = 0; i < 300; ++i) {
    text.source.push_back("The group went home after meeting " + std::to_string(i));
    text.target.push_back("Die Gruppe ging nach Hause " + std::to_string(i));
    if (i % 7 != 0) continue;
    text.source.emplace_back("");
    text.target.emplace_back("nichts");
  }
  return text;
}

struct Scene {
  Tokenizer tokenizer{kJointTokenizer};
  ParallelText text = some_text();
  Corpus best = make_corpus(text, tokenizer, kMostTokens);

  SubwordSampledText sampled(double sampling, std::uint64_t seed = 1,
                             std::size_t max_tokens = kMostTokens) const {
    return {text, best, tokenizer, {sampling, seed, max_tokens}};
  }
};

std::vector<std::vector<int>> all_of(const TokenizedSentences& side) {
  std::vector<std::vector<int>> all;
  for (std::size_t i = 0; i < side.size(); ++i) all.emplace_back(side[i].begin(), side[i].end());
  return all;
}

bool same(const Corpus& a, const Corpus& b) {
  return all_of(a.source) == all_of(b.source) && all_of(a.target) == all_of(b.target) &&
         a.lines == b.lines;
}

std::size_t longest(const TokenizedSentences& side) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < side.size(); ++i) most = std::max(most, side.length(i));
  return most;
}

}  // namespace

TEST_CASE("an epoch's cuts depend on seed and epoch, and on no thread") {
  const Scene scene;
  const SubwordSampledText sampled = scene.sampled(0.2);
  set_threads(1);
  const Corpus third = sampled.tokenize(scene.best, 3);
  set_threads(2);
  CHECK(same(third, sampled.tokenize(scene.best, 3)));
  CHECK(same(third, scene.sampled(0.2).tokenize(scene.best, 3)));
  const Corpus fourth = sampled.tokenize(scene.best, 4);
  CHECK(all_of(third.source) != all_of(fourth.source));
  CHECK(all_of(third.target) != all_of(fourth.target));
  const Corpus other_seed = scene.sampled(0.2, 2).tokenize(scene.best, 3);
  CHECK(all_of(third.source) != all_of(other_seed.source));
  CHECK(all_of(third.target) != all_of(other_seed.target));
}

TEST_CASE("each sentence draws its own cut, the two sides of a pair too") {
  Scene scene;
  scene.text.source.assign(300, "The group went home");
  scene.text.target = scene.text.source;
  scene.best = make_corpus(scene.text, scene.tokenizer, kMostTokens);
  const Corpus cut = scene.sampled(0.1).tokenize(scene.best, 1);
  const auto source = all_of(cut.source);
  const auto target = all_of(cut.target);
  CHECK(std::set(source.begin(), source.end()).size() > 100);
  CHECK(std::set(target.begin(), target.end()).size() > 100);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == target[i]) ++equal;
  }
  CHECK(equal < 50);
}

TEST_CASE("the same pairs are in every epoch, with the same text in other pieces") {
  const Scene scene;
  const Corpus cut = scene.sampled(0.2).tokenize(scene.best, 1);
  REQUIRE(cut.size() == 300);
  CHECK(cut.lines == scene.best.lines);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const std::vector<int> ids(cut.target[i].begin(), cut.target[i].end());
    const std::vector<int> best(scene.best.target[i].begin(), scene.best.target[i].end());
    CHECK(scene.tokenizer.decode_target(ids) == scene.tokenizer.decode_target(best));
    CHECK(ids.back() == scene.tokenizer.special_tokens().eos);
  }
}

TEST_CASE("a sentence that only its drawn cut makes too long keeps its best cut") {
  Scene scene;
  const std::size_t most = std::max(longest(scene.best.source), longest(scene.best.target));
  const Corpus wide = scene.sampled(0.1, 1, 1000).tokenize(scene.best, 1);
  const Corpus narrow = scene.sampled(0.1, 1, most).tokenize(scene.best, 1);
  REQUIRE(narrow.size() == scene.best.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const bool too_long = wide.source.length(i) > most;
    kept += too_long ? 1 : 0;
    const auto expected = too_long ? scene.best.source[i] : wide.source[i];
    CHECK(std::ranges::equal(narrow.source[i], expected));
  }
  CHECK(kept > 10);
  CHECK(longest(narrow.source) <= most);
  CHECK(longest(narrow.target) <= most);
}

TEST_CASE("a run from before tokenizer.sampling and train.r_drop goes on while they are off") {
  const Json before = {{"tokenizer", {{"type", "bpe"}}}, {"train", {{"seed", 1}}}};
  Json now = with_newer_keys(before);
  CHECK(first_difference(with_newer_keys(before), now).empty());
  now["tokenizer"]["sampling"] = 0.2;
  CHECK(first_difference(with_newer_keys(before), now) == "tokenizer.sampling was 0.0 and is 0.2");
  now["tokenizer"]["sampling"] = 0.0;
  now["train"]["r_drop"] = 5.0;
  CHECK(first_difference(with_newer_keys(before), now) == "train.r_drop was 0.0 and is 5.0");
  for (const Json& damaged : {Json("text"), Json::array({1}), Json{{"train", 3}}}) {
    CHECK(with_newer_keys(damaged) == damaged);
  }
}

TEST_CASE("under R-Drop a batch takes the activations of twice its tokens") {
  const ModelConfig model;
  TrainConfig train;
  const BatchShape largest{100, 90, 20};
  train.r_drop = 5;
  CHECK(training_memory(model, train, largest).activations ==
        activation_bytes(model, {200, 180, 20}));
}

TEST_CASE("the largest batch holds in every epoch") {
  const Scene scene;
  TrainConfig train;
  train.batch_tokens = 100;
  const SubwordSampledText sampled =
      scene.sampled(0.0);  // every segmentation is equally likely, which gives long ones
  const BatchShape largest = largest_batch(sampled, train);
  CHECK(largest.longest == kMostTokens);
  for (std::uint64_t epoch = 1; epoch < 5; ++epoch) {
    const Corpus cut = sampled.tokenize(scene.best, epoch);
    const BatchShape batch = largest_batch(cut, train);
    CHECK(batch.source_tokens <= largest.source_tokens);
    CHECK(batch.target_tokens <= largest.target_tokens);
    CHECK(batch.longest <= largest.longest);
  }
  CHECK(scene.sampled(0.2, 1, 1000).max_side_tokens() <
        80);  // the most tokens that the text can be split into
}

}  // namespace attn::test
