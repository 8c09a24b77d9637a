#include "view/svg/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/at.h"

namespace attn {
namespace {

/// Returns the smallest of 1, 2, 5, 10, 20, 50, … times a power of ten that is at least `rough`.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Without the tolerance, 0.6 / 3 would exceed 0.2.
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// True if numbers of this size are written as 1.5e9.
bool has_exponent(double size) {
  return size >= 1e5 || size < 1e-2;
}

/// Places ticks at multiples of the step: repeated addition would drift.
void place_ticks(Axis& axis) {
  const auto from = static_cast<std::int64_t>(std::ceil(axis.low / axis.step - 1e-6));
  const auto to = static_cast<std::int64_t>(std::floor(axis.high / axis.step + 1e-6));
  for (std::int64_t i = from; i <= to; ++i)
    axis.ticks.push_back(static_cast<double>(i) * axis.step);
}

}  // namespace

double Axis::pixel(double value) const {
  return first_pixel + (value - low) / (high - low) * (last_pixel - first_pixel);
}

void ValueRange::include(double value) {
  low = empty ? value : std::min(low, value);
  high = empty ? value : std::max(high, value);
  empty = false;
}

Axis nice_axis(ValueRange span, int intervals) {
  if (span.empty) span = {0, 1, false};
  const double size = std::max({std::abs(span.low), std::abs(span.high), 1e-6});
  // Numbers with an exponent get more room: their labels are long even with few digits.
  const double least = (has_exponent(size) ? 0.5 : 0.01) * size;
  if (span.high - span.low < least) {
    const double middle = span.low + (span.high - span.low) / 2;
    span = {middle - least / 2, middle + least / 2, false};
  }
  Axis axis;
  axis.step = round_step((span.high - span.low) / intervals);
  axis.low = std::floor(span.low / axis.step + 1e-9) * axis.step;
  axis.high = std::ceil(span.high / axis.step - 1e-9) * axis.step;
  place_ticks(axis);
  return axis;
}

Axis count_axis(double last, int intervals) {
  Axis axis;
  axis.high = std::max(last, 1.0);
  axis.step = std::max(round_step(axis.high / intervals), 1.0);
  place_ticks(axis);
  return axis;
}

std::string tick_label(const Axis& axis, double tick) {
  const double size = std::max(std::abs(axis.low), std::abs(axis.high));
  const int step_digit = static_cast<int>(std::floor(std::log10(axis.step) + 1e-9));
  if (has_exponent(size)) {
    if (tick == 0) return "0";
    const int digit = static_cast<int>(std::floor(std::log10(std::abs(tick)) + 1e-9));
    const double power = std::pow(10.0, digit);
    return fmt::format("{:.{}f}e{}", tick / power, std::max(0, digit - step_digit), digit);
  }
  return fmt::format("{:.{}f}", tick, std::max(0, -step_digit));
}

std::string count_label(double count, double largest) {
  if (largest >= 1e12) return fmt::format("{:g}", count);
  if (largest >= 1e7 && count > 0) return fmt::format("{:g}M", count / 1e6);
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = to_int(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(to_size(at), 1, ',');
  }
  return digits;
}

}  // namespace attn
