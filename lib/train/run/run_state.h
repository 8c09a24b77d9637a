// The progress of a training run, without its arrays, as a checkpoint holds it in JSON.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "nn/cross_entropy.h"

namespace attn {

struct RunState {
  std::uint64_t update = 0;      ///< made so far
  std::uint64_t epoch = 1;       ///< the one that is going on, from 1
  std::uint64_t next_batch = 0;  ///< of the epoch's plan
  std::uint64_t batches = 0;     ///< seen in all: the number that dropout's masks depend on
  LossSum since_log;
  LossSum in_epoch;
  std::optional<double> best_score;       ///< by the metric; larger is better (a loss is negated)
  std::uint64_t best_update = 0;          ///< of the model in DIR/model
  std::uint64_t validated_update = 0;     ///< of the last look, whole or early
  std::uint64_t without_improvement = 0;  ///< validations since the best one
  std::uint64_t snapshots = 0;            ///< of Averaging::checkpoints, in all
  std::uint64_t log_bytes = 0;            ///< of train.jsonl that belong to this state
  std::uint64_t probe_bytes = 0;          ///< of probe.jsonl

  Json to_json() const;
  /// InputError, beginning with `where`, for what to_json() does not write.
  static RunState from_json(const Json& json, const std::string& where);
};

/// sum / tokens; 0 where there are none.
double mean_of(double sum, Index tokens);

/// The epoch that the last update belonged to: at its very end the state is in the next one.
std::uint64_t epoch_of(const RunState& state);

}  // namespace attn
