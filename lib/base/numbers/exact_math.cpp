#include "base/numbers/exact_math.h"

#include <bit>
#include <cstdint>

namespace attn {

double exact_log(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  double log = 0;
  while (x < 0.75) {
    x *= 2;
    log -= kLn2;
  }
  // ln x = 2 artanh((x − 1) / (x + 1)) near 1
  const double z = (x - 1) / (x + 1);
  double power = z, sum = 0;
  for (int n = 1; n < 30; n += 2, power *= z * z) sum += power / n;
  return log + 2 * sum;
}

double exact_exp(double x) {
  if (!(x >= -700)) return 0;
  // x = n ln 2 + r with |r| at most ln 2 / 2; ln 2 in two parts, so that n times the first is
  // exact.
  constexpr double kLog2E = 1.44269504088896340736;
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const auto n = static_cast<std::int64_t>(x * kLog2E - 0.5);
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double term = 1, sum = 1;
  for (int k = 1; k < 18; ++k) {
    term *= r / k;
    sum += term;
  }
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

}  // namespace attn
