#include "train/training_memory.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/memory.h"
#include "model/training/trainable_model.h"
#include "train/batches.h"

namespace attn {

TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train,
                               const BatchShape& largest) {
  // Weights, gradients, two moments; products prepared for both passes, and a translating model's.
  std::uint64_t copies = 4 + 2 + 1;
  if (train.average == WeightAveraging::exponential) copies += 1;
  if (train.average == WeightAveraging::checkpoints) copies += 1 + train.average_last;
  const std::optional<std::uint64_t> trained = count_parameters(model);
  const std::optional<std::uint64_t> bytes =
      trained ? checked_product({*trained, copies, sizeof(float)}) : std::nullopt;
  BatchShape passed = largest;
  if (train.r_drop > 0) {  // each pair goes through the model twice
    passed.source_tokens *= 2;
    passed.target_tokens *= 2;
    passed.sentences *= 2;
  }
  return {bytes.value_or(~std::uint64_t{0}), activation_bytes(model, passed)};
}

BatchShape expected_batch(const TrainConfig& train) {
  return {train.batch_tokens, train.batch_tokens, 1, 1};
}

BatchShape largest_batch(const Corpus& corpus, const TrainConfig& train) {
  BatchShape largest;
  for (const BatchPlan& plan : plan_by_length(corpus, train.batch_tokens)) {
    BatchShape batch;
    batch.sentences = plan.size();
    for (const std::uint32_t i : plan) {
      batch.source_tokens += corpus.source.length(i);
      batch.target_tokens += corpus.target.length(i);
      batch.longest = std::max<std::uint64_t>(
          batch.longest, std::max(corpus.source.length(i), corpus.target.length(i)));
    }
    largest.source_tokens = std::max(largest.source_tokens, batch.source_tokens);
    largest.target_tokens = std::max(largest.target_tokens, batch.target_tokens);
    largest.longest = std::max(largest.longest, batch.longest);
    largest.sentences = std::max(largest.sentences, batch.sentences);
  }
  return largest;
}

BatchShape largest_batch(const SubwordSampledText& text, const TrainConfig& train) {
  // A sentence has two tokens or more: a piece and </s>.
  return {train.batch_tokens, train.batch_tokens, text.max_side_tokens(), train.batch_tokens / 2};
}

void require_training_memory(const TrainingMemory& memory, const BatchShape& largest,
                             const std::string& where) {
  const std::uint64_t needed =
      checked_add(memory.parameters, memory.activations).value_or(~std::uint64_t{0});
  const std::uint64_t available = available_memory();
  if (needed <= available) return;
  const auto human = [](std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  throw MemoryError(
      "{}: training takes about {} of memory ({} for weights, gradients, moments and products, {} "
      "for a batch of {} source and {} target tokens), and {} are available; lower "
      "train.batch_tokens or the model's sizes",
      where, human(needed), human(memory.parameters), human(memory.activations),
      largest.source_tokens, largest.target_tokens, human(available));
}

}  // namespace attn
