// The importance of each head: the decrease of the references' probability without it (Michel et
// al. 2019, "Are Sixteen Heads Really Better than One?", section 3).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "record/evaluation.h"

namespace attn {

/// A sentence and its reference: ids with the end symbol, neither of them empty.
struct ReferencePair {
  std::vector<int> source;
  std::vector<int> target;
};

/// Scores all references (teacher forcing) with all heads, then without each in turn. `done` is
/// called with the number of finished passes over the data. Throws std::logic_error if there are
/// no pairs.
HeadImportanceReport head_importance(const Transformer& model, std::span<const ReferencePair> pairs,
                                     const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace attn
