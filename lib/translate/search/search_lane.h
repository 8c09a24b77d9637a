// Searches sentences of several requests on one thread, step by step.
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
  std::uint64_t bytes = 0;  ///< size of its keys, values and logits
  bool heavy = false;       ///< its steps take much longer than those of most sentences
  bool alone = false;       ///< must run alone, because a step with others failed
  std::unique_ptr<SentenceSearch> search;
  std::exception_ptr error;
};

/// The sentences that one thread waits for.
struct QueuedRequest {
  QueuedRequest(const Ensemble& models, const DecodeConfig& decode) : rules(models, decode) {}

  SearchRules rules;
  std::vector<QueuedSentence> sentences;
  const EncodedSource* encoded = nullptr;   ///< of its only sentence; may be null
  const std::atomic<bool>* stop = nullptr;  ///< null: never
  std::uint64_t client = 0;
  // The queue's lock protects the members below, except `cancelled`.
  std::size_t remaining = 0;           ///< sentences that are waiting or running
  std::atomic<bool> cancelled{false};  ///< stopped or failed: its running sentences leave
  std::exception_ptr error;            ///< the first one
  std::condition_variable changed;
};

/// The batch that one thread drives.
class SearchLane {
 public:
  explicit SearchLane(const Ensemble& models) : models_(models) {}

  /// The size of the light or of the heavy sentences. They never share a step, so that heavy ones
  /// do not delay light ones, which get three quarters of the time.
  struct Load {
    Index rows = 0;
    std::uint64_t bytes = 0;
  };
  const Load& load(bool heavy) const { return groups_[heavy ? 1 : 0].load; }

  bool empty() const { return size() == 0; }
  std::size_t size() const { return groups_[0].sentences.size() + groups_[1].sentences.size(); }
  /// True if the lane holds a sentence that must run alone.
  bool exclusive() const;

  struct Step {
    std::vector<QueuedSentence*> finished;     ///< done, failed or cancelled
    std::vector<QueuedSentence*> retry_alone;  ///< failed together with others
    Index rows = 0;                            ///< in this step
  };
  /// Removes cancelled sentences, lets `joining` join, and runs a step of the light or of the heavy
  /// sentences. If it throws, `step` holds some of the sentences that have left.
  void run(std::span<QueuedSentence* const> joining, Step& step);

  /// Removes all sentences.
  void clear(Step& step);

 private:
  struct Group {
    std::optional<ContinuousBatch> running;
    std::vector<QueuedSentence*> sentences;
    Load load;
    std::chrono::nanoseconds spent{0};  ///< since both groups have had sentences
  };

  void drop(Group& group, Step& step);
  void join(Group& group, std::span<QueuedSentence* const> joining, Step& step);
  void join_some(Group& group, std::span<QueuedSentence* const> some, Step& step);
  void advance(Group& group, Step& step);
  void fail(std::span<QueuedSentence* const> failed, bool company, Step& step);
  Group* next_group();
  static void remove(Group& group, const QueuedSentence& sentence);

  const Ensemble& models_;
  std::array<Group, 2> groups_;  ///< light and heavy sentences
};

}  // namespace attn
