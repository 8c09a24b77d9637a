#include "translate/vector_recorder.h"

#include <algorithm>

#include "base/at.h"

namespace attn {
namespace {

/// Heads come in order (layer by layer, head by head), so appending is placing.
template <typename Rows>
void append(HeadVectors& to, const AttentionHead& head, const Rows& rows) {
  to.layers = std::max(to.layers, to_int(head.layer) + 1);
  to.heads = std::max(to.heads, to_int(head.head) + 1);
  to.rows = to_int(rows.rows());
  to.columns = to_int(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.outerStride();
    to.values.insert(to.values.end(), row, row + rows.cols());
  }
}

}  // namespace

void VectorRecorder::weights_ready(AttentionHead& head) {
  AttentionRecorder::weights_ready(head);
  if (!wanted_) return;
  AttentionVectors& vectors = at(vectors_, head.kind);
  vectors.scale = head.scale;
  append(vectors.query, head, head.query);
  append(vectors.key, head, head.key);
  append(vectors.value, head, head.value);
}

AttentionVectors VectorRecorder::take_vectors(AttentionKind kind) {
  return std::move(at(vectors_, kind));
}

}  // namespace attn
