#include "record/attention_cost.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/at.h"

namespace attn {

std::vector<CostCurve> cost_curves(std::span<const AttentionCost> measured) {
  std::vector<CostCurve> curves;
  for (const AttentionCost& cost : measured) {
    if (curves.empty() || curves.back().kind != cost.kind) {
      curves.push_back({cost.kind, cost.approximate, {}, {}, {}});
    }
    CostCurve& curve = curves.back();
    curve.lengths.push_back(static_cast<double>(cost.length));
    curve.seconds.push_back(cost.forward_seconds + cost.backward_seconds);
    curve.bytes.push_back(static_cast<double>(cost.peak_bytes));
  }
  return curves;
}

std::string heads_and_threads(const AttentionCosts& costs) {
  return fmt::format("{} head{} of {}, {} thread{}", costs.heads, costs.heads == 1 ? "" : "s",
                     costs.head_dim, costs.threads, costs.threads == 1 ? "" : "s");
}

namespace {

/// Returns the slope of ln y over ln x by least squares.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(std::max(y[i], 1e-9));
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  const double below = n * sxx - sx * sx;
  return below > 0 ? (n * sxy - sx * sy) / below : 0;
}

/// Returns the length from which the pattern stays faster than full attention, interpolated
/// linearly in logarithms between lengths.
std::optional<Index> crossover_length(const CostCurve& kind, const CostCurve& full) {
  std::optional<Index> from;
  double before = 0;
  for (std::size_t i = 0; i < kind.lengths.size(); ++i) {
    const double ahead = std::log(at(full.seconds, i)) - std::log(kind.seconds[i]);
    if (ahead <= 0) {
      from.reset();
    } else if (!from) {
      double length = kind.lengths[i];
      if (i > 0) {
        const double share = before / (before - ahead);
        length = std::exp(std::log(kind.lengths[i - 1]) * (1 - share) + std::log(length) * share);
      }
      from = narrow_cast<Index>(std::llround(length));
    }
    before = ahead;
  }
  return from;
}

}  // namespace

double median(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  const std::size_t half = rounds.size() / 2;
  return rounds.size() % 2 == 1 ? rounds[half] : (rounds[half - 1] + rounds[half]) / 2;
}

std::vector<CostGrowth> cost_growth(std::span<const AttentionCost> measured) {
  const std::vector<CostCurve> curves = cost_curves(measured);
  const auto full = std::find_if(curves.begin(), curves.end(),
                                 [](const CostCurve& curve) { return curve.kind == "full"; });
  std::vector<CostGrowth> growth;
  for (const CostCurve& curve : curves) {
    if (curve.lengths.size() < 2) continue;
    CostGrowth fitted{curve.kind, exponent(curve.lengths, curve.seconds),
                      exponent(curve.lengths, curve.bytes), std::nullopt};
    const bool other = full != curves.end() && curve.kind != "full";
    if (other && std::is_sorted(curve.lengths.begin(), curve.lengths.end())) {
      fitted.overtakes = crossover_length(curve, *full);
    }
    growth.push_back(fitted);
  }
  return growth;
}

}  // namespace attn
