// What is read after a product is fetched while the product is computed: its multipliers leave the
// caches time that attention, which waits for keys and values, has not.
#pragma once

#include "base/index.h"

namespace attn {

constexpr Index kCacheLine = 64;  // bytes

/// Numbers that follow one another in memory. A product with many rows brings as many of them into
/// the second cache as there is time for.
struct Prefetch {
  const float* first = nullptr;
  Index floats = 0;

  /// The share of one of several tasks.
  Prefetch part(Index task, Index tasks) const {
    const Index begin = floats * task / tasks;
    return {first + begin, floats * (task + 1) / tasks - begin};
  }
  /// Cache lines for each of so many chains of `steps` steps, if none fetches more than one a step.
  Index lines_per_chain(Index chains, Index steps) const {
    if (chains == 0) return 0;
    const Index bytes = floats * Index{sizeof(float)};
    const Index lines = (bytes + chains * kCacheLine - 1) / (chains * kCacheLine);
    return lines < steps ? lines : steps;
  }
};

}  // namespace attn
