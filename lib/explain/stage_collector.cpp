#include "explain/stage_collector.h"

#include <stdexcept>

namespace attn {

void StageCollector::weights_ready(AttentionHead& head) {
  HeadNumbers& kept = heads_[{head.kind, head.layer, head.head}];
  kept.scale = head.scale;
  kept.query = head.query;
  kept.key = head.key;
  kept.value = head.value;
  kept.scores = head.scores;
  kept.mask = head.mask;
  kept.weights = head.weights;
  kept.outside.keys = head.outside.keys;
  kept.outside.weights.assign(head.outside.weights.begin(), head.outside.weights.end());
  kept.own_projections.assign(head.own_projections.begin(), head.own_projections.end());
  if (head.distances.empty()) return;
  const Index rows = head.mask.rows(), keys = head.mask.cols();
  kept.distances.resize(rows, keys);
  for (Index i = 0; i < rows; ++i) {
    const float* own = &attn::at(head.distances, rows - 1 - i);  // the last query's come first
    kept.distances.row(i) = Eigen::Map<const RowVector>(own, keys);
  }
}

void StageCollector::output_ready(const AttentionHead& head) {
  heads_[{head.kind, head.layer, head.head}].output = head.output;
}

void StageCollector::stage_ready(const StageView& view) {
  stages_[{view.kind, view.layer, view.stage}] = view.rows;
}

const Matrix& StageCollector::at(AttentionKind kind, int layer, Stage stage) const {
  const auto found = stages_.find({kind, layer, stage});
  if (found == stages_.end()) throw std::logic_error("a stage that was not observed");
  return found->second;
}

bool StageCollector::has(AttentionKind kind, int layer, Stage stage) const {
  return stages_.contains({kind, layer, stage});
}

const HeadNumbers& StageCollector::head(AttentionKind kind, int layer, int head) const {
  const auto found = heads_.find({kind, layer, head});
  if (found == heads_.end()) throw std::logic_error("a head that was not observed");
  return found->second;
}

}  // namespace attn
