#include "train/training_memory.h"

#include <optional>

#include "base/checked.h"
#include "model/trainable_model.h"
#include "model/training_pass.h"

namespace attn {

TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train) {
  TrainingMemory memory;
  const std::uint64_t trained = count_trained(model);
  // Weights, gradients, two moments; products prepared for both passes, and a translating model's.
  std::uint64_t copies = 4 + 2 + 1;
  if (train.average == Averaging::exponential) copies += 1;
  if (train.average == Averaging::checkpoints) copies += 1 + train.average_last;
  const auto saturated = [](std::optional<std::uint64_t> n) {
    return n.value_or(~std::uint64_t{0});
  };
  memory.parameters = saturated(checked_product({trained, copies, sizeof(float)}));
  memory.activations = activation_bytes(model, train.batch_tokens, train.batch_tokens,
                                        static_cast<std::uint64_t>(model.max_positions));
  return memory;
}

}  // namespace attn
