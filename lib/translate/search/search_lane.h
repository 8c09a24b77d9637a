// Sentences of several requests that are searched on one thread, step by step.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "translate/search/continuous_batch.h"

namespace attn {

struct QueuedRequest;

/// A sentence that waits in a queue or runs in a lane.
struct QueuedSentence {
  QueuedRequest* request = nullptr;
  std::span<const int> source;
  SlotSize size;
  std::uint64_t bytes = 0;  ///< of its keys, values and logits
  bool heavy = false;       ///< its steps take much longer than most sentences'
  bool alone = false;       ///< something failed while others ran beside it
  std::unique_ptr<SentenceSearch> search;
  std::exception_ptr error;
};

class SearchLane;

/// What one thread asks for, and waits for.
struct QueuedRequest {
  QueuedRequest(const Ensemble& models, const DecodeConfig& decode) : rules(models, decode) {}

  SearchRules rules;
  std::vector<QueuedSentence> sentences;
  const EncodedSource* encoded = nullptr;   ///< of its only sentence
  const std::atomic<bool>* stop = nullptr;  ///< null: never
  std::uint64_t client = 0;
  // What follows is the queue's, under its lock, but `over`.
  std::size_t remaining = 0;           ///< sentences that wait or run
  std::atomic<bool> cancelled{false};  ///< stopped or failed: those that run leave
  std::exception_ptr error;            ///< the first
  std::condition_variable changed;
};

class SearchLane {
 public:
  explicit SearchLane(const Ensemble& models) : models_(models) {}

  /// Sentences that a step of heavy ones would hold up share no step with them, and get three
  /// quarters of the time.
  struct Load {
    Index rows = 0;
    std::uint64_t bytes = 0;
  };
  const Load& load(bool heavy) const { return groups_[heavy ? 1 : 0].load; }

  bool empty() const { return size() == 0; }
  std::size_t size() const { return groups_[0].sentences.size() + groups_[1].sentences.size(); }
  /// Whether somebody is here who must be alone.
  bool exclusive() const;

  struct Step {
    std::vector<QueuedSentence*> finished;     ///< done, failed or not wanted any more
    std::vector<QueuedSentence*> retry_alone;  ///< failed in company: to be searched alone
    Index rows = 0;                            ///< of the step
  };
  /// Those that nobody waits for leave, `joining` join, and some or all take a step. Where it
  /// throws, `step` has some of those who are not here any more.
  void run(std::span<QueuedSentence* const> joining, Step& step);

  /// All that are here are gone.
  void clear(Step& step);

 private:
  struct Group {
    std::optional<ContinuousBatch> running;
    std::vector<QueuedSentence*> sentences;
    Load load;
    std::chrono::nanoseconds spent{0};  ///< since both groups have sentences
  };

  void drop(Group& group, Step& step);
  void join(Group& group, std::span<QueuedSentence* const> joining, Step& step);
  void join_some(Group& group, std::span<QueuedSentence* const> some, Step& step);
  void advance(Group& group, Step& step);
  void fail(std::span<QueuedSentence* const> failed, bool company, Step& step);
  Group* next_group();
  static void remove(Group& group, const QueuedSentence& sentence);

  const Ensemble& models_;
  std::array<Group, 2> groups_;  ///< light and heavy ones
};

}  // namespace attn
