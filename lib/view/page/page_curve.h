// The curve of a training run for the slider over its moments.
#pragma once

#include <cstddef>
#include <string>

#include "record/training_curve.h"

namespace attn {

/// {"first":0,"end":7,"train":[[update,loss],…],"validations":[[update,loss,bleu,chrf],…],
/// "best":update}: the curve of the page's records `first` to `end` − 1; what is not finite is
/// null, and `best` is absent where the run names none.
std::string page_curve(const TrainingCurve& curve, std::size_t first, std::size_t end);

}  // namespace attn
