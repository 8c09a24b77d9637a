#include "explain/head_steps.h"

#include <stdexcept>

namespace attn {

void ActivationCollector::weights_ready(AttentionHead& head) {
  HeadActivations& kept = heads_[{head.site, head.layer, head.head}];
  kept.scale = head.scale;
  kept.query = head.query;
  kept.key = head.key;
  kept.value = head.value;
  kept.scores = head.scores;
  kept.mask = head.mask;
  kept.weights = head.weights;
  kept.non_token_weights.keys = head.non_token_weights.keys;
  kept.non_token_weights.weights.assign(head.non_token_weights.weights.begin(),
                                        head.non_token_weights.weights.end());
  kept.global_projection_queries.assign(head.global_projection_queries.begin(),
                                        head.global_projection_queries.end());
  if (head.relative_bias.empty()) return;
  const Index rows = head.mask.rows(), keys = head.mask.cols();
  kept.relative_bias.resize(rows, keys);
  for (Index i = 0; i < rows; ++i) {
    // The bias of the last query comes first.
    const float* own = &attn::at(head.relative_bias, rows - 1 - i);
    kept.relative_bias.row(i) = Eigen::Map<const RowVector>(own, keys);
  }
}

void ActivationCollector::output_ready(const AttentionHead& head) {
  heads_[{head.site, head.layer, head.head}].output = head.output;
}

void ActivationCollector::stage_ready(const StageView& view) {
  stages_[{view.site, view.layer, view.stage}] = view.rows;
}

const Matrix& ActivationCollector::at(AttentionSite site, int layer, Stage stage) const {
  const auto found = stages_.find({site, layer, stage});
  if (found == stages_.end()) throw std::logic_error("a stage that was not observed");
  return found->second;
}

bool ActivationCollector::has(AttentionSite site, int layer, Stage stage) const {
  return stages_.contains({site, layer, stage});
}

const HeadActivations& ActivationCollector::head(AttentionSite site, int layer, int head) const {
  const auto found = heads_.find({site, layer, head});
  if (found == heads_.end()) throw std::logic_error("a head that was not observed");
  return found->second;
}

}  // namespace attn
