// Finds the heads that align words best in a model whose config names none.
#pragma once

#include "service/model/open_model.h"

namespace attn {

/// Sets `model.alignment_heads` if the model's config has no `alignment_heads` and its name says
/// that it translates from English ("opus-mt-en-de"). The heads are thus the same for all
/// sentences. For English to German they have the lowest alignment error rates on data/gold; for
/// other targets they have the highest `alignment` (HeadMetrics) on some of its English sentences.
/// For any other model, and for random weights, nothing is set, and a head is chosen from the
/// sentences of a run.
void find_alignment_heads(ReadyModel& model);

}  // namespace attn
