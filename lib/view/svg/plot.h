// One axis of a plot: which numbers it spans, where its ticks are and what they say.
#pragma once

#include <string>
#include <vector>

namespace attn {

/// Numbers to pixels, linear, with ticks at round numbers (1, 2 or 5 times a power of ten apart).
struct Axis {
  double low = 0;
  double high = 1;
  double first_pixel = 0;  ///< where `low` lies
  double last_pixel = 1;
  double step = 1;  ///< between ticks
  std::vector<double> ticks;

  double pixel(double value) const;
};

/// What the values of an axis span; starts empty.
struct ValueRange {
  double low = 0;
  double high = 0;
  bool empty = true;

  void include(double value);
};

/// An axis widened to whole steps, at most about `intervals` of them. Values that hardly differ (by
/// less than a hundredth of their size) are given room, and nothing at all gives 0 to 1.
Axis nice_axis(ValueRange span, int intervals);

/// An axis from 0 to exactly `last`, at least 1, with whole ticks: updates.
Axis count_axis(double last, int intervals);

/// "4", "0.25", "1.5e9": as many decimals as the step needs.
std::string tick_label(const Axis& axis, double tick);

/// "1,200"; "20M" where the largest of the axis is ten million or more.
std::string count_label(double count, double largest);

}  // namespace attn
