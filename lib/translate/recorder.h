// Recording what attention did: the first of the observers.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/transformer.h"
#include "record/attention_record.h"

namespace attn {

/// Copies every head's weights of one batch into maps, one set a sentence.
class AttentionRecorder : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& head) override;
  bool reads_scores() const override { return false; }

  /// The maps of one sentence and kind; [layers, heads, queries, keys]. Empty (no layers) where the
  /// kind never ran.
  AttentionMaps take(AttentionSite site, Index sentence);

 private:
  std::vector<AttentionMaps> maps_[3];  ///< by kind, then by sentence
};

/// log-softmax of `ids[t]` in row t of logits: natural logarithms, one a row. InputError naming
/// `model` where the logits, or one of the results, are not finite.
std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model = "the model");

}  // namespace attn
