// What each head is worth: how much less likely the references become without it (Michel et al.
// 2019, "Are Sixteen Heads Really Better than One?", section 3).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "record/evaluation.h"

namespace attn {

/// A sentence and its reference; ids with the end symbol, neither empty.
struct ReferencePair {
  std::vector<int> source;
  std::vector<int> target;
};

/// Scores all references (teacher forcing) with all heads, then without each in turn. `done` hears
/// how many of the passes over the data are behind. std::logic_error without any pair.
HeadImportanceReport head_importance(const Transformer& model, std::span<const ReferencePair> pairs,
                                     const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace attn
