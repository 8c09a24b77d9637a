// Tests how costs grow with the length: exponents of power laws, and where a pattern becomes
// cheaper than full attention.
#include "record/attention_cost.h"

#include <doctest/doctest.h>

namespace attn {
namespace {

AttentionCost cost(const char* kind, Index length, double seconds, std::uint64_t bytes) {
  return {kind, false, length, seconds, 0, 0, bytes};
}

TEST_CASE("growth: exponents are those of powers of the length, a kind at a time") {
  const std::vector<AttentionCost> measured{
      cost("full", 100, 1, 1'000), cost("full", 1'000, 100, 100'000), cost("window", 100, 4, 5'000),
      cost("window", 1'000, 40, 50'000)};
  const std::vector<CostGrowth> growth = cost_growth(measured);
  REQUIRE(growth.size() == 2);
  CHECK(growth[0].kind == "full");
  CHECK(growth[0].time_exponent == doctest::Approx(2));
  CHECK(growth[0].memory_exponent == doctest::Approx(2));
  CHECK(!growth[0].overtakes);
  CHECK(growth[1].time_exponent == doctest::Approx(1));
  CHECK(growth[1].memory_exponent == doctest::Approx(1));
  CHECK(growth[1].overtakes == 400);  // 4 s · N/100 = (N/100)² s
}

TEST_CASE("growth: the median of four rounds is the mean of the two in the middle") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 2}) == 2);
  CHECK(median({10, 2, 1, 3}) == 2.5);
}

TEST_CASE("growth: one length says nothing, and lengths that fall name no place") {
  CHECK(cost_growth({}).empty());
  CHECK(cost_growth(std::vector{cost("full", 100, 1, 1)}).empty());
  const std::vector<AttentionCost> falling{cost("full", 200, 4, 4), cost("full", 100, 1, 1),
                                           cost("window", 200, 1, 1), cost("window", 100, 1, 1)};
  CHECK(!cost_growth(falling)[1].overtakes);
}

}  // namespace
}  // namespace attn
