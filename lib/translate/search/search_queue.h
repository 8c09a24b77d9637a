// Searches the sentences of several threads' requests in the same steps: each matrix multiplication
// has the rows of sentences of many requests.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "translate/search/search.h"

namespace attn {

/// The numbers of steps by their number of rows. The last count is of steps beyond the last bound.
struct BatchHistogram {
  static constexpr std::array<Index, 9> bounds{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::array<std::uint64_t, bounds.size() + 1> counts{};
  std::uint64_t rows = 0;  ///< sum over all steps

  BatchHistogram& operator+=(const BatchHistogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    rows += other.rows;
    return *this;
  }
};

/// Keeps requests waiting until a lane has room for them. A lane is a batch of sentences that are
/// searched step by step, each with its own settings; sentences join and leave between two steps.
/// There are as many lanes as cores. A thread whose request finds a free lane drives that lane
/// until its own sentences are done; if others' sentences are left, a thread of the queue continues
/// until the lane is empty. A thread that is the only one to drive a lane uses all threads for its
/// matrix multiplications.
///
/// Clients take turns. While others wait, no client has more than a quarter of the rows, and never
/// more than half of them, but each may always search one sentence. Errors belong to sentences: if
/// a step fails for several, each of them is searched again alone.
class SearchQueue final : public Searcher {
 public:
  struct Capacity {
    Index rows;  ///< per lane; the last sentence to join may exceed it
    int lanes;   ///< 0: one per core
  };

  /// The models must outlive the queue, and the queue all calls.
  explicit SearchQueue(Ensemble models) : SearchQueue(std::move(models), Capacity{96, 0}) {}
  SearchQueue(Ensemble models, Capacity capacity);
  ~SearchQueue() override;
  SearchQueue(const SearchQueue&) = delete;
  SearchQueue& operator=(const SearchQueue&) = delete;

  /// Returns what attn::search() returns; any number of threads may call it at once. A child of
  /// fork() starts with an empty queue. Throws SearchStopped soon after the context's `stop` is
  /// set.
  SearchResults search(const PackedTokens& source, const DecodeConfig& decode,
                       const SearchContext& context = {}) override;

  BatchHistogram sizes() const;

 private:
  class State;
  State& state();

  Ensemble models_;
  Capacity capacity_;
  std::atomic<State*> state_;
  std::atomic<pid_t> process_;  ///< the process that the state belongs to
};

}  // namespace attn
