// Why a training run ended.
#pragma once

#include <cstdint>

namespace attn {

enum class EndReason {
  updates,   ///< train.updates are made
  epochs,    ///< train.epochs are over
  patience,  ///< train.patience validations in a row found no better model
  time,      ///< train.minutes have passed
  signal,    ///< the run was asked to stop
};

/// Returns the reason as train.jsonl writes it: "patience".
constexpr const char* name_of(EndReason reason) {
  switch (reason) {
    case EndReason::updates:
      return "updates";
    case EndReason::epochs:
      return "epochs";
    case EndReason::patience:
      return "patience";
    case EndReason::time:
      return "time";
    case EndReason::signal:
      return "signal";
  }
  return "";
}

/// The end of a run.
struct TrainingOutcome {
  EndReason reason = EndReason::updates;
  std::uint64_t update = 0;   ///< the last one made
  std::uint64_t updates = 0;  ///< total number expected; 0: unknown

  bool stopped() const { return reason == EndReason::signal; }
};

}  // namespace attn
