// Which distances between two places count as one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/index.h"

namespace attn {

/// Relative positions (Raffel et al. 2020, section 2.1): what a key's place means to a query is how
/// far away it is, and distances share buckets. A causal attention has all buckets for what lies
/// before the query; else the second half of them is for what lies behind it. Of one direction's n
/// buckets the first n/2 hold one distance each, and the others more and more of them: bucket
///   n/2 + ln(d / (n/2)) / ln(max_distance / (n/2)) · n/2, rounded down, and at most n − 1.
struct RelativePositionBuckets {
  Index count = 32;
  Index max_distance = 128;
  bool causal = false;

  Index of(Index key_minus_query) const {
    const Index n = causal ? count : count / 2;
    const Index first = !causal && key_minus_query > 0 ? n : 0;
    const Index d = causal ? std::max<Index>(-key_minus_query, 0) : std::abs(key_minus_query);
    const Index exact = n / 2;
    if (d < exact) return first + d;
    const double times = static_cast<double>(d) / static_cast<double>(exact);
    const double most = static_cast<double>(max_distance) / static_cast<double>(exact);
    const double share = std::log(times) / std::log(most);  // of the buckets for far distances
    return first + std::min(exact + static_cast<Index>(share * double(n - exact)), n - 1);
  }
};

}  // namespace attn
