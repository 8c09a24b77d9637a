#include "translate/recorder.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "translate/logits_processor.h"

namespace attn {

void AttentionRecorder::weights_ready(AttentionHead& head) {
  std::vector<AttentionMaps>& of_kind = at(maps_, head.kind);
  const auto sentence = to_size(head.sentence);
  if (of_kind.size() <= sentence) of_kind.resize(sentence + 1);
  AttentionMaps& maps = of_kind[sentence];
  maps.layers = std::max(maps.layers, to_int(head.layer) + 1);
  maps.heads = std::max(maps.heads, to_int(head.head) + 1);
  maps.queries = to_int(head.weights.rows());
  maps.keys = to_int(head.weights.cols());
  // Heads come in order (layer by layer, head by head), so appending is placing.
  for (Index i = 0; i < head.weights.rows(); ++i) {
    const float* row = head.weights.data() + i * head.weights.outerStride();
    maps.weights.insert(maps.weights.end(), row, row + head.weights.cols());
  }
}

AttentionMaps AttentionRecorder::take(AttentionKind kind, Index sentence) {
  std::vector<AttentionMaps>& of_kind = at(maps_, kind);
  const auto s = to_size(sentence);
  return s < of_kind.size() ? std::move(of_kind[s]) : AttentionMaps{};
}

std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model) {
  std::vector<float> out;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const float* row = logits.data() + to_index(t) * logits.outerStride();
    const RowNormaliser normal = normaliser({row, to_size(logits.cols())});
    out.push_back(normal(row[ids[t]]));
    if (!normal.finite || !std::isfinite(out.back())) refuse_logits(model, to_index(t));
  }
  return out;
}

}  // namespace attn
