// Which sentences make a batch, and in which order batches come.
#pragma once

#include <cstdint>
#include <vector>

#include "train/corpus.h"

namespace attn {

/// The sentences of one batch, as indices into a corpus.
using BatchPlan = std::vector<std::uint32_t>;

/// The batches of one epoch: sentences of like length together (they cost the attention the same,
/// and a batch is cut where sentences × longest would pass `batch_tokens`), in an order that
/// depends on seed and epoch alone. Every pair occurs once.
std::vector<BatchPlan> plan_epoch(const Corpus& corpus, std::uint64_t batch_tokens,
                                  std::uint64_t seed, std::uint64_t epoch);

/// Sentences in order of length, cut in the same way: for validation.
std::vector<BatchPlan> plan_by_length(const Corpus& corpus, std::uint64_t batch_tokens);

}  // namespace attn
