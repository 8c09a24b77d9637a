// Logarithm and exponential with the same bits on every machine: sums, products and divisions of
// doubles only, no libm.
#pragma once

namespace attn {

/// ln x for x in (0, 1], within a few units of the last place.
double exact_log(double x);

/// e^x for x of 0 or less, within a few units of the last place; 0 below −700.
double exact_exp(double x);

}  // namespace attn
