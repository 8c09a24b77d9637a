#include "translate/recorder.h"

#include <algorithm>
#include <cmath>

#include "translate/logits_processor.h"

namespace attn {

void AttentionRecorder::weights_ready(AttentionHead& head) {
  std::vector<AttentionMaps>& of_kind = maps_[static_cast<std::size_t>(head.kind)];
  const auto sentence = static_cast<std::size_t>(head.sentence);
  if (of_kind.size() <= sentence) of_kind.resize(sentence + 1);
  AttentionMaps& maps = of_kind[sentence];
  maps.layers = std::max(maps.layers, static_cast<int>(head.layer) + 1);
  maps.heads = std::max(maps.heads, static_cast<int>(head.head) + 1);
  maps.queries = static_cast<int>(head.weights.rows());
  maps.keys = static_cast<int>(head.weights.cols());
  // Heads come in order (layer by layer, head by head), so appending is placing.
  for (Index i = 0; i < head.weights.rows(); ++i) {
    const float* row = head.weights.data() + i * head.weights.outerStride();
    maps.weights.insert(maps.weights.end(), row, row + head.weights.cols());
  }
}

AttentionMaps AttentionRecorder::take(AttentionKind kind, Index sentence) {
  std::vector<AttentionMaps>& of_kind = maps_[static_cast<std::size_t>(kind)];
  const auto s = static_cast<std::size_t>(sentence);
  return s < of_kind.size() ? std::move(of_kind[s]) : AttentionMaps{};
}

std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model) {
  std::vector<float> out;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const float* row = logits.data() + static_cast<Index>(t) * logits.outerStride();
    const RowNormaliser normal = normaliser({row, static_cast<std::size_t>(logits.cols())});
    out.push_back(normal(row[ids[t]]));
    if (!normal.finite || !std::isfinite(out.back())) refuse_logits(model, static_cast<Index>(t));
  }
  return out;
}

}  // namespace attn
