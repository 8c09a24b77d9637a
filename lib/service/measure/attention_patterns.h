// The costs of attention: measured time and memory of several patterns at several lengths.
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/patterns/attention_pattern.h"
#include "record/attention_cost.h"
#include "record/receptive_field.h"

namespace attn {

/// A measurement of attention: one random sentence, all heads, without projections.
struct AttentionBenchmark {
  AttentionPattern pattern;
  Index length = 0;
  Index heads = 8;
  Index head_dim = 64;
  int threads = 1;
  bool causal = false;
  bool backward = false;  ///< then the forward pass is that of training
  float dropout = 0.0F;
};

/// Returns the patterns of a comma-separated list. "all" stands for all of them, or for all that
/// can be causal.
std::vector<std::string> patterns_to_benchmark(const std::string& list, bool causal);

/// Returns the pattern with this command-line name. Its parameters do not depend on the length,
/// except the stride, which is √length. Throws UsageError if no pattern has that name, or if it
/// should be causal and cannot.
AttentionPattern pattern_for_benchmark(const std::string& kind, Index length, bool causal);

/// Runs the trials, which differ only in pattern and length, one after another. Each runs in a
/// process of its own, so that its memory is its own. Throws MemoryError if a length does not fit.
AttentionCosts benchmark_attention(const std::vector<AttentionBenchmark>& trials);

// The receptive field: how far the tokens of a model's encoder see, layer by layer.

/// Maximum number of tokens of a sentence: the computation needs a bit for each pair of tokens.
inline constexpr int max_receptive_tokens = 16'384;

/// Computes the receptive field for sentences of `tokens` tokens, in a picture of at most `side`
/// blocks.
ReceptiveField encoder_receptive_field(const ModelConfig& config, int tokens, int side);

}  // namespace attn
