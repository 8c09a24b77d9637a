// Relative position buckets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/index.h"

namespace attn {

/// Relative position buckets of T5 (Raffel et al. 2020, section 2.1): the position bias depends on
/// the distance between key and query, and distances share buckets. In causal attention all buckets
/// are for keys before the query; otherwise the second half is for keys after it. Of the n buckets
/// of one direction, the first n/2 hold one distance each, and the later ones hold more and more
/// distances. The bucket of distance d is
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
    // The position within the logarithmic buckets, from 0 to 1.
    const double share = std::log(times) / std::log(most);
    return first + std::min(exact + static_cast<Index>(share * double(n - exact)), n - 1);
  }
};

}  // namespace attn
