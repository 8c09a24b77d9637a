#include <doctest/doctest.h>

#include "base/at.h"
#include "base/json.h"
#include "base/relative_position_buckets.h"
#include "nn/attention/relative_position_bias.h"

namespace attn {
namespace {

constexpr Index kFarthest = 1500;

TEST_CASE("every distance is in the bucket where T5's class has it") {
  const Json golden = read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/buckets.json");
  CHECK(golden.size() == 22);
  for (const Json& each : golden) {
    CAPTURE(each["buckets"].get<int>());
    CAPTURE(each["max_distance"].get<int>());
    const RelativePositionBuckets buckets{
        each["buckets"].get<int>(), each["max_distance"].get<int>(), each["causal"].get<bool>()};
    const Json& runs = each["runs"];
    std::size_t run = 0;
    for (Index distance = -kFarthest; distance <= kFarthest; ++distance) {
      if (run + 1 < runs.size() && runs[run + 1][0].get<Index>() == distance) ++run;
      CAPTURE(distance);
      REQUIRE(buckets.of(distance) == runs[run][1].get<Index>());
    }
  }
}

TEST_CASE("biases lie by distance, a query's one number before the next one's") {
  constexpr Index kBuckets = 8, kHeads = 3, kPlaces = 30;
  std::vector<float> numbers(to_size(kBuckets * kHeads));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Parameter table = row_major(numbers.data(), kBuckets, kHeads);
  for (const bool causal : {false, true}) {
    const RelativePositionBias bias(table, {kBuckets, 20, false}, causal, kPlaces);
    const RelativePositionBuckets buckets{kBuckets, 20, causal};
    for (Index head = 0; head < kHeads; ++head) {
      for (Index i = 0; i < kPlaces; ++i) {
        CHECK(bias.of(head, 0) - i == bias.of(head, i));
        for (Index j = 0; j < kPlaces; ++j) {
          REQUIRE(bias.of(head, i)[j] == table.at(buckets.of(j - i), head));
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn
