// Searches that several threads ask of the same models, in the same steps: each product has the
// rows of sentences of many requests.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "translate/search/search.h"

namespace attn {

/// How many rows the steps of a queue had: the last count is of those beyond all bounds.
struct BatchHistogram {
  static constexpr std::array<Index, 9> bounds{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::array<std::uint64_t, bounds.size() + 1> counts{};
  std::uint64_t rows = 0;  ///< of all steps

  BatchHistogram& operator+=(const BatchHistogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    rows += other.rows;
    return *this;
  }
};

/// Who asks, and for how long.
struct RequestContext {
  std::uint64_t client = 0;                 ///< clients have their turns one after the other
  const std::atomic<bool>* stop = nullptr;  ///< another thread sets it: nobody waits any more
  /// What the first model's encoder gave for these sentences, where somebody has run it.
  const EncodedSource* encoded = nullptr;
  Index max_active = 0;  ///< as SearchContext::max_active, where a batch has the threads to itself
};

/// What is asked waits until a lane has room for it: a batch of sentences that are searched step by
/// step, each with its own settings, in which others join and leave between any two steps. There
/// are as many lanes as cores. Who asks and finds one free drives it until its own sentences are
/// done; where others' are left, a thread of the queue's own drives on until nobody's are. One that
/// drives alone has all threads for its products.
///
/// Clients take turns. None has more than a quarter of the rows while others wait, nor ever more
/// than half of them, but a sentence at a time always. An error is the sentence's own: where a step
/// fails for several, each is searched once more alone.
class SearchQueue {
 public:
  struct Capacity {
    Index rows;  ///< of a lane, but where its last sentence to join has more
    int lanes;   ///< 0: one a core
  };

  /// Its models outlive it, and it all calls.
  explicit SearchQueue(Ensemble models) : SearchQueue(std::move(models), Capacity{96, 0}) {}
  SearchQueue(Ensemble models, Capacity room);
  ~SearchQueue();
  SearchQueue(const SearchQueue&) = delete;
  SearchQueue& operator=(const SearchQueue&) = delete;

  /// As search() without a watch, by any number of threads at once; the same results. A child of
  /// fork() begins with an empty queue. SearchStopped soon after the asker's `stop` is set.
  SearchResults search(const PackedTokens& source, const DecodeConfig& decode,
                       const RequestContext& context = {});

  BatchHistogram sizes() const;

 private:
  class State;
  State& state();

  Ensemble models_;
  Capacity room_;
  std::atomic<State*> state_;
  std::atomic<pid_t> process_;  ///< whose state it is
};

}  // namespace attn
