// One axis of a plot: its range of numbers, its ticks and their labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A linear mapping from numbers to pixels, with ticks at round numbers (1, 2 or 5 times a power of
/// ten apart).
struct Axis {
  double low = 0;
  double high = 1;
  double first_pixel = 0;  ///< pixel of `low`
  double last_pixel = 1;
  double step = 1;  ///< distance between ticks
  std::vector<double> ticks;

  double pixel(double value) const;
};

/// The range of an axis's values; initially empty.
struct ValueRange {
  double low = 0;
  double high = 0;
  bool empty = true;

  void include(double value);
};

/// Returns an axis widened to whole steps, at most about `intervals` of them. Values that differ by
/// less than a hundredth of their size get more room; an empty range becomes 0 to 1.
Axis nice_axis(ValueRange span, int intervals);

/// Returns an axis of counts such as updates, from 0 to exactly `last`, at least 1, with ticks at
/// whole numbers.
Axis count_axis(double last, int intervals);

/// Formats a tick as "4", "0.25" or "1.5e9", with as many decimals as the step needs.
std::string tick_label(const Axis& axis, double tick);

/// Formats a count as "1,200", or "20M" if the axis reaches ten million or more.
std::string count_label(double count, double largest);

// The style of the training curve.

/// The picture has its own background, so that it is also readable in a light page on a dark
/// desktop, and the other way round. Dashes and hollow dots distinguish the lines in gray print.
inline constexpr std::string_view kPlotStyle = R"(<style>
.attn-curve text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;fill:#59636e}
.attn-curve .title{font-size:16px;font-weight:600;fill:#1f2328}
.attn-curve .head{font-weight:600;fill:#1f2328}
.attn-curve .page{fill:#ffffff}
.attn-curve .grid{stroke:#e9ecef;stroke-width:1}
.attn-curve .axis{stroke:#9aa3ad;stroke-width:1}
.attn-curve .best{stroke:#59636e;stroke-width:1;stroke-dasharray:2 3}
.attn-curve .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.attn-curve .train{stroke-width:1.25}
.attn-curve .valid,.attn-curve .chrf{stroke-dasharray:7 4.5}
.attn-curve .dots{stroke-width:1.75;stroke-dasharray:none}
.attn-curve .train{stroke:#1f6fb5}
.attn-curve .valid{stroke:#c2500a}
.attn-curve .bleu{stroke:#0b7d5c}
.attn-curve .chrf{stroke:#9a4c95}
.attn-curve .dots.train{fill:#1f6fb5}
.attn-curve .dots.valid{fill:#c2500a}
.attn-curve .dots.bleu{fill:#0b7d5c}
.attn-curve .dots.chrf{fill:#ffffff}
@media (prefers-color-scheme:dark){
.attn-curve text,.attn-curve .note{fill:#9aa4af}
.attn-curve .title,.attn-curve .head{fill:#e6edf3}
.attn-curve .page{fill:#0d1117}
.attn-curve .grid{stroke:#20262e}
.attn-curve .axis{stroke:#515b66}
.attn-curve .best{stroke:#9aa4af}
.attn-curve .train{stroke:#6cb3f5}
.attn-curve .valid{stroke:#f4924d}
.attn-curve .bleu{stroke:#43c59b}
.attn-curve .chrf{stroke:#d795d2}
.attn-curve .dots.train{fill:#6cb3f5}
.attn-curve .dots.valid{fill:#f4924d}
.attn-curve .dots.bleu{fill:#43c59b}
.attn-curve .dots.chrf{fill:#0d1117}
}
</style>
)";

}  // namespace attn
