// Tests requests of several threads that are searched in the same steps.
#include "translate/search/search_queue.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "base/at.h"
#include "base/error.h"
#include "compute/threads.h"
#include "model/transformer.h"

using namespace attn;
using namespace std::chrono_literals;

namespace {

ModelConfig small_shape() {
  ModelConfig c;
  c.d_model = 16;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 32;
  c.vocab_size = c.decoder_vocab_size = 40;
  c.pad_token_id = c.decoder_start_token_id = 39;
  c.max_positions = 4096;
  return c;
}

PackedTokens sentences(int count, int number) {
  PackedTokens source;
  for (int i = 0; i < count; ++i) {
    std::vector<int> ids;
    for (int t = 0; t < 1 + (7 * i + number) % 11; ++t)
      ids.push_back(1 + (i + number + 3 * t) % 38);
    ids.push_back(0);
    source.add(ids);
  }
  return source;
}

constexpr int kLong = 3000;

/// Returns settings of many kinds.
DecodeConfig settings(int number) {
  DecodeConfig decode;
  decode.num_beams = 1 + number % 5;
  decode.num_return_sequences = 1 + number % 5 / 2;
  if (number % 3 == 1) decode.length_penalty = 0.5F + static_cast<float>(number % 7);
  if (number % 4 == 2) decode.no_repeat_ngram_size = 2;
  if (number % 5 == 3) decode.max_new_tokens = 1 + number % 9;
  return decode;
}

/// Returns settings for translations that never end by themselves: of 400 tokens, or of enough for
/// other requests to arrive meanwhile.
DecodeConfig endless(int beams = 1, int tokens = 400) {
  DecodeConfig decode;
  decode.num_beams = beams;
  decode.max_new_tokens = tokens;
  decode.min_new_tokens = tokens;
  return decode;
}

bool same(const SearchResults& a, const SearchResults& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, [](const SearchHypothesis& p, const SearchHypothesis& q) {
      return p.ids == q.ids && p.score == q.score;
    });
  });
}

void wait_for(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!what()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
}

std::uint64_t steps_of(const SearchQueue& queue) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : queue.sizes().counts) all += count;
  return all;
}

/// A request on a thread of its own.
class Asked {
 public:
  Asked(SearchQueue& queue, PackedTokens source, const DecodeConfig& decode,
        std::uint64_t client = 0)
      : source_(std::move(source)), thread_([this, &queue, decode, client] {
          try {
            found = queue.search(source_, decode, {.client = client, .stop = &stop});
          } catch (const SearchStopped&) {
            stopped = true;
          } catch (const Error& error) {
            problem = error.what();
          }
          done = true;
        }) {}
  ~Asked() {
    stop = true;
    thread_.join();
  }

  std::atomic<bool> stop{false}, done{false}, stopped{false};
  SearchResults found;
  std::string problem;

 private:
  PackedTokens source_;
  std::thread thread_;
};

struct Fixture {
  Transformer model = random_model(small_shape(), 5, default_backend());
};

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "a request finds alone what it finds among 50 others of other settings") {
  for (const Index rows : {Index{7}, Index{96}}) {
    for (const int lanes : {1, 2, 3}) {
      SearchQueue queue(model, {rows, lanes});
      std::deque<Asked> asked;
      for (int i = 0; i < 51; ++i) {
        asked.emplace_back(queue, sentences(1 + i % 4, i), settings(i), to_size(i % 13));
      }
      for (int i = 0; i < 51; ++i) {
        CAPTURE(i);
        Asked& one = at(asked, i);
        wait_for([&] { return one.done.load(); });
        REQUIRE(one.problem.empty());
        CHECK(same(one.found, search(model, sentences(1 + i % 4, i), settings(i))));
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "requests share steps") {
  SearchQueue queue(model, {96, 1});
  Asked first(queue, sentences(1, 1), endless(1, kLong));
  wait_for([&] { return steps_of(queue) > 0; });
  Asked second(queue, sentences(1, 2), endless());
  wait_for([&] { return first.done && second.done; });
  CHECK(steps_of(queue) == kLong);
  CHECK(queue.sizes().counts[1] == 400);  // steps of two rows
  CHECK(queue.sizes().rows == kLong + 400);
}

TEST_CASE_FIXTURE(
    Fixture, "one that is stopped leaves, whether it waits, runs or drives, and others go on") {
  SearchQueue queue(model, {1, 1});  // one sentence at a time
  Asked drives(queue, sentences(1, 1), endless(1, kLong));
  wait_for([&] { return steps_of(queue) > 0; });
  Asked waits(queue, sentences(3, 2), endless()), last(queue, sentences(1, 3), endless());
  waits.stop = true;
  wait_for([&] { return waits.done.load(); });
  CHECK(waits.stopped);
  drives.stop = true;
  wait_for([&] { return drives.done.load(); });
  wait_for([&] { return last.done.load(); });
  CHECK_FALSE(last.stopped);
  CHECK(same(last.found, search(model, sentences(1, 3), endless())));

  SearchQueue shared(model, {96, 1});
  Asked driver(shared, sentences(1, 1), endless(1, kLong));
  wait_for([&] { return steps_of(shared) > 0; });
  Asked runs(shared, sentences(2, 2), endless(1, kLong));
  wait_for([&] { return shared.sizes().counts[2] > 0; });  // three rows
  runs.stop = true;
  wait_for([&] { return runs.done.load(); });
  CHECK(runs.stopped);
  CHECK_FALSE(driver.done);
  wait_for([&] { return driver.done.load(); });
  CHECK(same(driver.found, search(model, sentences(1, 1), endless(1, kLong))));
}

TEST_CASE_FIXTURE(Fixture, "a failure is the sentence's own, and so is its message") {
  SearchQueue queue(model, {96, 2});
  DecodeConfig steep = settings(0);
  steep.length_penalty = 99;  // 400 ^ 99 overflows a float
  steep.min_new_tokens = steep.max_new_tokens = 300;
  PackedTokens unknown;
  unknown.add(std::vector<int>{1, 4000, 0});
  const std::string why = [&] {
    try {
      search(model, unknown, settings(0));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  REQUIRE_FALSE(why.empty());
  std::deque<Asked> asked;
  for (int i = 0; i < 24; ++i) {
    const bool bad = i % 8 == 3, failing = i % 8 == 5;
    asked.emplace_back(queue, bad ? unknown : sentences(2, i),
                       failing ? steep : endless(1 + i % 3));
  }
  for (int i = 0; i < 24; ++i) {
    CAPTURE(i);
    Asked& one = at(asked, i);
    wait_for([&] { return one.done.load(); });
    if (i % 8 == 3) {
      CHECK(one.problem == why);
    } else if (i % 8 == 5) {
      CHECK(one.problem.find("length_penalty") != std::string::npos);
    } else {
      CHECK(one.problem == "");
      CHECK(same(one.found, search(model, sentences(2, i), endless(1 + i % 3))));
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "clients take turns: one with many sentences holds up no other") {
  SearchQueue queue(model, {4, 1});
  Asked many(queue, sentences(60, 1), endless(1, kLong), 1);  // 90,000 steps, two at a time
  wait_for([&] { return steps_of(queue) > 0; });
  // While others are present, the client has one row, a quarter of all. Before and after, it has
  // two, half of all.
  CHECK(queue.sizes().counts[1] > 0);
  CHECK(queue.sizes().counts[2] == 0);
  Asked one(queue, sentences(1, 2), endless(), 2), other(queue, sentences(1, 3), endless(), 3);
  wait_for([&] { return one.done && other.done; });
  CHECK_FALSE(many.done);
  wait_for([&] { return queue.sizes().counts[1] > kLong; });  // steps of its next two sentences
  CHECK(same(one.found, search(model, sentences(1, 2), endless())));
  CHECK(same(other.found, search(model, sentences(1, 3), endless())));
}

TEST_CASE_FIXTURE(Fixture, "where there is room for one alone, it is another client's turn next") {
  SearchQueue queue(model, {1, 1});
  Asked many(queue, sentences(60, 1), endless(1, kLong), 1);
  wait_for([&] { return steps_of(queue) > 0; });
  Asked one(queue, sentences(1, 2), endless(), 2);
  wait_for([&] { return one.done.load(); });
  CHECK_FALSE(many.done);
}

TEST_CASE_FIXTURE(Fixture, "heavy sentences share no steps with others, and take fewer") {
  SearchQueue queue(model, {96, 1});
  std::deque<Asked> heavy;
  for (int i = 0; i < 3; ++i)
    heavy.emplace_back(queue, sentences(1, 10), endless(32, kLong));  // sources of 12 tokens
  wait_for([&] { return steps_of(queue) > 20; });
  const std::uint64_t before = queue.sizes().counts[5];
  Asked light(queue, sentences(1, 2), endless());
  wait_for([&] { return light.done.load(); });
  CHECK_FALSE(heavy.front().done);
  CHECK(queue.sizes().counts[0] == 400);
  CHECK(queue.sizes().counts[5] + queue.sizes().counts[6] + queue.sizes().counts[7] - before < 300);
}

TEST_CASE_FIXTURE(Fixture, "a batch that nobody shares has all threads, and the same results") {
  set_threads(2);
  SearchQueue queue(model);
  CHECK(same(queue.search(sentences(9, 4), settings(3)),
             search(model, sentences(9, 4), settings(3))));
  CHECK(steps_of(queue) == 0);
  const EncodedSource encoded = model.encode(sentences(1, 8));
  CHECK(same(queue.search(sentences(1, 8), settings(3), {.encoded = &encoded}),
             search(model, sentences(1, 8), settings(3))));
  CHECK(steps_of(queue) > 0);
  CHECK(queue.search(PackedTokens(), settings(1)).empty());
  set_threads(1);
}

#ifndef ATTN_TSAN  // its runtime cannot continue in a forked child of several threads
TEST_CASE_FIXTURE(Fixture, "a child of fork() that is made while others search begins anew") {
  SearchQueue queue(model, {96, 1});
  Asked running(queue, sentences(1, 1), endless(1, kLong));
  wait_for([&] { return steps_of(queue) > 0; });
  const SearchResults expected = search(model, sentences(2, 2), settings(3));
  const pid_t child = fork();
  if (child == 0) _exit(same(queue.search(sentences(2, 2), settings(3)), expected) ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  wait_for([&] { return running.done.load(); });
}
#endif
