// Searches that share the decoder's steps, and come and go between them (continuous batching, Yu et
// al. 2022, "Orca"): each product of a step has the rows of all of them.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "translate/search/sentence_search.h"

namespace attn {

class ContinuousBatch {
 public:
  /// The observer is of the first model's encoder and steps; null: nobody.
  explicit ContinuousBatch(const Ensemble& models, AttentionObserver* observer = nullptr)
      : decoder_(models, observer) {}

  /// Encodes their sources, and they take part from the next step on. They stay where they are
  /// until they leave or have ended. `encoded`: what the first model's encoder gave for these
  /// sources, where somebody has run it. MemoryError where there is no room: then none joins.
  void join(std::span<SentenceSearch* const> searches, const EncodedSource* encoded = nullptr);

  /// A search whose answer nobody waits for any more.
  void leave(const SentenceSearch& search);

  bool empty() const { return running_.empty(); }
  Index sentences() const { return std::ssize(running_); }
  /// Rows of the next step at most.
  Index hypotheses() const { return hypotheses_; }

  /// One that is done, or met an error of its own.
  struct FinishedSearch {
    SentenceSearch* search = nullptr;
    std::exception_ptr error;
  };

  /// One step for all. Those that have ended by it are not here any more; in the order in which
  /// they joined.
  std::vector<FinishedSearch> step();

 private:
  struct Running {
    SentenceSearch* search = nullptr;
    SentenceRows place;
    std::exception_ptr error;
  };
  void release(const Running& one);

  EnsembleDecoder decoder_;
  std::vector<Running> running_;
  StepInput rows_;
  Index hypotheses_ = 0;
};

}  // namespace attn
