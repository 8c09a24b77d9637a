// Measured costs of attention without the rest of the model: plain data for the views.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/index.h"

namespace attn {

/// The cost of one attention pattern at one length.
struct AttentionCost {
  std::string kind;  ///< "full", "window", …
  /// True if the result approximates full attention instead of computing a part of it.
  bool approximate = false;
  Index length = 0;            ///< in tokens
  double forward_seconds = 0;  ///< median over the rounds
  double backward_seconds = 0;
  /// In the two matrix multiplications of the forward pass, for computed cells only.
  std::uint64_t multiply_adds = 0;
  std::uint64_t peak_bytes = 0;  ///< besides queries, keys and values: outputs, gradients, scratch
};

/// The measurements of one pattern by length, for drawing and fitting.
struct CostCurve {
  std::string kind;
  bool approximate = false;
  std::vector<double> lengths;  ///< in tokens
  std::vector<double> seconds;  ///< forward and backward together
  std::vector<double> bytes;    ///< same as `AttentionCost::peak_bytes`
};

/// Returns one curve per pattern, in the order of `measured`, where all lengths of a pattern must
/// be adjacent.
std::vector<CostCurve> cost_curves(std::span<const AttentionCost> measured);

/// The growth of a pattern's costs over the measured lengths.
struct CostGrowth {
  std::string kind;
  double time_exponent = 0;  ///< forward and backward together, by least squares of logarithms
  double memory_exponent = 0;
  /// Number of tokens from which it stays faster than full attention.
  std::optional<Index> overtakes;
};

/// The measurements over one random sentence with all heads, without any projection.
struct AttentionCosts {
  Index heads = 0;
  Index head_dim = 0;
  int threads = 1;
  bool causal = false;
  bool backward = false;                ///< if true, the forward pass is the one used in training
  std::vector<AttentionCost> measured;  ///< all lengths of a pattern are adjacent
  std::vector<CostGrowth> growth;       ///< of patterns with two or more lengths
};

/// Formats "8 heads of 64, 1 thread".
std::string heads_and_threads(const AttentionCosts& costs);

// The growth of attention costs with the length.

/// Returns the median of at least one round; for an even number, the mean of the two in the middle.
double median(std::vector<double> rounds);

/// Returns the growth of each pattern; empty if fewer than two lengths were measured.
std::vector<CostGrowth> cost_growth(std::span<const AttentionCost> measured);

}  // namespace attn
