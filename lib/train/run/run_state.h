// The progress of a training run apart from its arrays: the JSON part of a checkpoint.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "nn/cross_entropy.h"

namespace attn {

struct RunState {
  std::uint64_t update = 0;      ///< made so far
  std::uint64_t epoch = 1;       ///< the current one, from 1
  std::uint64_t next_batch = 0;  ///< index in the epoch's plan
  std::uint64_t batches = 0;     ///< total number seen; dropout masks depend on it
  LossSum since_log;
  LossSum in_epoch;
  std::optional<double> best_score;       ///< by the metric; larger is better (losses are negated)
  std::uint64_t best_update = 0;          ///< of the model in DIR/model
  std::uint64_t validated_update = 0;     ///< of the last validation, full or early
  std::uint64_t without_improvement = 0;  ///< validations since the best one
  std::uint64_t snapshots = 0;            ///< total for WeightAveraging::checkpoints
  std::uint64_t log_bytes = 0;            ///< length of train.jsonl at this state
  std::uint64_t probe_bytes = 0;          ///< length of probe.jsonl

  Json to_json() const;
  /// Throws InputError, beginning with `where`, for anything that to_json() does not write.
  static RunState from_json(const Json& json, const std::string& where);
};

/// Returns sum / tokens, or 0 without tokens.
double mean_of(double sum, Index tokens);

/// Returns the epoch of the last update: at the very end of an epoch, the state is already in the
/// next one.
std::uint64_t epoch_of(const RunState& state);

}  // namespace attn
