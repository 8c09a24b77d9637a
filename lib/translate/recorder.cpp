#include "translate/recorder.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "translate/logits_processor.h"

namespace attn {

namespace {

/// What the next head of `maps` looked at.
void add_pattern(SeenMaps& seen, const AttentionHead& head) {
  const auto known = std::find(seen.patterns.begin(), seen.patterns.end(), *head.seen);
  seen.of.push_back(to_int(to_size(known - seen.patterns.begin())));
  if (known == seen.patterns.end()) seen.patterns.push_back(*head.seen);
  seen.own_global.insert(seen.own_global.end(), head.own_global.begin(), head.own_global.end());
  seen.own_projections.assign(head.own_projections.begin(), head.own_projections.end());
}

}  // namespace

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
  if (head.seen != nullptr) {
    if (!maps.seen) maps.seen.emplace();
    add_pattern(*maps.seen, head);
  }
  for (Index i = 0; i < head.weights.rows(); ++i) {
    const float* row = head.weights.data() + i * head.weights.outerStride();
    if (!maps.sparse()) {
      maps.weights.insert(maps.weights.end(), row, row + head.weights.cols());
      continue;
    }
    for (const SeenRun& run : head.seen->row(to_int(i))) {
      maps.weights.insert(maps.weights.end(), row + run.first, row + run.end);
    }
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
