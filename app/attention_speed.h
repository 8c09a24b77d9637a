// What attention costs: time and memory of kinds of attention at several lengths, measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/attention_pattern.h"

namespace attn {

/// One measurement: attention of one random sentence, all heads, without any projection.
struct AttentionTrial {
  AttentionPattern pattern;
  Index length = 0;
  Index heads = 8;
  Index head_dim = 64;
  int threads = 1;
  bool causal = false;
  bool backward = false;  ///< the forward pass is training's, then
  float dropout = 0.0F;
};

struct AttentionTiming {
  double forward_seconds = 0;  ///< median of the rounds
  double backward_seconds = 0;
  std::uint64_t multiply_adds = 0;  ///< of the forward pass's two products, for what is seen
  std::uint64_t peak_bytes = 0;  ///< beyond queries, keys and values: outputs, gradients, scratch
};

/// The kinds of a list with commas between them; "all" is all of them, or all that can be causal.
std::vector<std::string> kinds_to_measure(const std::string& list, bool causal);

/// The kind as the command line names it, with parameters that do not grow with the length (stride:
/// √length). UsageError where there is none of that name, or none that is causal.
AttentionPattern pattern_to_measure(const std::string& kind, Index length, bool causal);

struct AttentionReport {
  std::vector<AttentionTrial> trials;
  std::vector<AttentionTiming> timings;  ///< one a trial
};

/// Runs the trials one after another, each in a process of its own so that its memory is its own.
/// MemoryError where a length does not fit.
AttentionReport measure_attention(std::vector<AttentionTrial> trials);

/// How a kind's costs grow over the lengths that were measured.
struct AttentionGrowth {
  std::string kind;
  double time_exponent = 0;  ///< of forward and backward together, by least squares of logarithms
  double memory_exponent = 0;
  std::optional<Index> overtakes;  ///< tokens from which it stays faster than full attention
};

/// One a kind; empty where fewer than two lengths were measured.
std::vector<AttentionGrowth> attention_growth(const AttentionReport& report);

/// The measurements, a line each under a line of names.
std::string attention_csv(const AttentionReport& report);

}  // namespace attn
