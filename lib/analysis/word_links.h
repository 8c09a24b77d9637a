// From weights between words to links between them.
#pragma once

#include <optional>
#include <vector>

#include "analysis/weight_matrix.h"
#include "record/words.h"

namespace attn {

/// Each target word's strongest source word; the first of equals. With `least`, also every other
/// source word of at least that weight. `weights` is [target · source] of the same words. A target
/// word whose row is all 0 or holds anything but finite numbers is linked to nothing. Sorted by
/// source, then by target.
std::vector<AlignmentLink> extract_links(const WeightMatrix& weights,
                                         const std::vector<Word>& source,
                                         const std::vector<Word>& target,
                                         std::optional<float> least = std::nullopt);

}  // namespace attn
