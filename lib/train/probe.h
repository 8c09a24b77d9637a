// The sentence that is watched while a model learns.
#pragma once

#include <cstdint>

#include "record/attention_record.h"
#include "train/training_loop.h"

namespace attn {

/// Its record by the model after update `update`: setup.probe reading setup.probe_target, or, where
/// that is empty, with the model's own translation. `tokenizer` fits the model.
AttentionRecord probe_record(const Transformer& model, const Tokenizer& tokenizer,
                             const TrainerSetup& setup, std::uint64_t update);

}  // namespace attn
