#include "translate/vector_recorder.h"

#include <algorithm>

namespace attn {
namespace {

/// Heads come in order (layer by layer, head by head), so appending is placing.
template <typename Rows>
void append(HeadVectors& to, const AttentionHead& head, const Rows& rows) {
  to.layers = std::max(to.layers, static_cast<int>(head.layer) + 1);
  to.heads = std::max(to.heads, static_cast<int>(head.head) + 1);
  to.rows = static_cast<int>(rows.rows());
  to.columns = static_cast<int>(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.outerStride();
    to.values.insert(to.values.end(), row, row + rows.cols());
  }
}

}  // namespace

void VectorRecorder::weights_ready(AttentionHead& head) {
  AttentionRecorder::weights_ready(head);
  if (!wanted_) return;
  AttentionVectors& vectors = vectors_[static_cast<std::size_t>(head.kind)];
  vectors.scale = head.scale;
  append(vectors.query, head, head.query);
  append(vectors.key, head, head.key);
  append(vectors.value, head, head.value);
}

AttentionVectors VectorRecorder::take_vectors(AttentionKind kind) {
  return std::move(vectors_[static_cast<std::size_t>(kind)]);
}

}  // namespace attn
