// What attention alone takes, measured: plain data for the views.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/index.h"

namespace attn {

/// One kind of attention at one length.
struct AttentionCost {
  std::string kind;            ///< "full", "window", …
  bool approximate = false;    ///< another result than full attention's, not a part of it
  Index length = 0;            ///< tokens
  double forward_seconds = 0;  ///< median of the rounds
  double backward_seconds = 0;
  std::uint64_t multiply_adds = 0;  ///< of the forward pass's two products, for what is seen
  std::uint64_t peak_bytes = 0;  ///< beyond queries, keys and values: outputs, gradients, scratch
};

/// One kind's measurements by length, as numbers to draw and to fit.
struct CostCurve {
  std::string kind;
  bool approximate = false;
  std::vector<double> lengths;  ///< tokens
  std::vector<double> seconds;  ///< of forward and backward together
  std::vector<double> bytes;    ///< as `AttentionCost::peak_bytes`
};

/// One a kind, in the order of `measured`, where a kind's lengths stand together.
std::vector<CostCurve> cost_curves(std::span<const AttentionCost> measured);

/// How a kind's costs grow over the lengths that were measured.
struct CostGrowth {
  std::string kind;
  double time_exponent = 0;  ///< of forward and backward together, by least squares of logarithms
  double memory_exponent = 0;
  std::optional<Index> overtakes;  ///< tokens from which it stays faster than full attention
};

/// What was measured of one random sentence, all heads, without any projection.
struct AttentionCosts {
  Index heads = 0;
  Index head_dim = 0;
  int threads = 1;
  bool causal = false;
  bool backward = false;                ///< the forward pass is training's, then
  std::vector<AttentionCost> measured;  ///< a kind's lengths stand together
  std::vector<CostGrowth> growth;       ///< of kinds that have two lengths or more
};

/// "8 heads of 64, 1 thread".
std::string heads_and_threads(const AttentionCosts& costs);

// How what attention takes grows with the length.

/// Of at least one round: the middle one, of an even number the mean of the two in the middle.
double median(std::vector<double> rounds);

/// One a kind; empty where fewer than two lengths were measured.
std::vector<CostGrowth> cost_growth(std::span<const AttentionCost> measured);

}  // namespace attn
