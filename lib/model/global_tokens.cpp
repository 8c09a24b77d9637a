#include "model/global_tokens.h"

#include <algorithm>
#include <numeric>

#include "base/at.h"

namespace attn {

void norm_global_rows(const LayerNorm& norm, std::span<const AttentionGroup> groups,
                      const ConstMatrixRef& x, MatrixRef normal) {
  for (const AttentionGroup& group : groups) {
    norm.forward(x.middleRows(group.first_query, group.origin),
                 normal.middleRows(group.first_query, group.origin));
  }
}

GlobalTokenRows::GlobalTokenRows(const PackedTokens& source, Index globals)
    : positions_(to_size(globals)) {
  std::iota(positions_.begin(), positions_.end(), Index{0});
  tokens_.offsets.clear();
  for (std::size_t b = 0; b < source.offsets.size(); ++b) {
    tokens_.offsets.push_back(source.offsets[b] + to_index(b) * globals);
  }
  if (source.key_padding_mask.empty()) return;
  for (Index b = 0; b < source.sentences(); ++b) {
    tokens_.key_padding_mask.insert(tokens_.key_padding_mask.end(), to_size(globals), 0);
    const auto first = source.key_padding_mask.begin() + at(source.offsets, b);
    tokens_.key_padding_mask.insert(tokens_.key_padding_mask.end(), first,
                                    first + source.length(b));
  }
}

std::vector<AttentionGroup> GlobalTokenRows::groups() const {
  std::vector<AttentionGroup> groups = self_groups(tokens_, /*causal=*/false, positions_);
  for (AttentionGroup& group : groups) group.origin = globals();
  return groups;
}

void GlobalTokenRows::prepend(const Parameter& global_tokens, const ConstMatrixRef& sentences,
                              MatrixRef all) const {
  for_each([&](Index first, Index /*own*/, Index /*length*/) {
    for (Index g = 0; g < globals(); ++g) {
      for (Index j = 0; j < all.cols(); ++j) all(first + g, j) = global_tokens.at(g, j);
    }
  });
  scatter(sentences, all);
}

void GlobalTokenRows::scatter(const ConstMatrixRef& sentences, MatrixRef all) const {
  for_each([&](Index first, Index own, Index length) {
    all.middleRows(first + globals(), length) = sentences.middleRows(own, length);
  });
}

void GlobalTokenRows::gather(const ConstMatrixRef& all, MatrixRef sentences) const {
  for_each([&](Index first, Index own, Index length) {
    sentences.middleRows(own, length) = all.middleRows(first + globals(), length);
  });
}

namespace {

/// Removes the first `globals` rows and keys; the remaining ones are renumbered from 0.
PatternCells without_global_cells(const PatternCells& seen, Index globals) {
  PatternCells own;
  const auto first = narrow_cast<std::int32_t>(globals);
  for (Index row = globals; row + 1 < std::ssize(seen.rows); ++row) {
    for (const CellRun& run : seen.row(to_int(row))) {
      const std::int32_t from = std::max(run.first, first);
      if (from < run.end) own.runs.push_back({from - first, run.end - first, run.reason, run.bias});
    }
    own.end_row();
  }
  return own;
}

}  // namespace

template <typename Action>
void GlobalTokenFilter::pass(const AttentionHead& head, Action&& action) const {
  const Index queries = head.query.rows() - globals_;
  const Index keys = head.key.rows() - globals_;
  const Matrix key = head.key.bottomRows(keys);
  const Matrix value = head.value.bottomRows(keys);
  const auto corner = [&](const Matrix& of) -> Matrix {
    if (of.size() == 0) return {};
    return of.bottomRightCorner(queries, keys);
  };
  const Matrix scores = corner(head.scores);
  const Matrix mask = corner(head.mask);
  const PatternCells seen =
      head.seen != nullptr ? without_global_cells(*head.seen, globals_) : PatternCells();
  Eigen::VectorXf on_globals = head.weights.bottomLeftCorner(queries, globals_).rowwise().sum();
  MatrixRef all_weights = head.weights;
  MatrixRef all_output = head.output;
  AttentionHead own{head.site,
                    head.layer,
                    head.head,
                    head.sentence,
                    head.scale,
                    {head.query.data() + globals_ * head.query.outerStride(), queries,
                     head.query.cols(), Eigen::OuterStride<>(head.query.outerStride())},
                    key,
                    value,
                    scores,
                    mask,
                    all_weights.bottomRightCorner(queries, keys),
                    all_output.bottomRows(queries),
                    head.seen != nullptr ? &seen : nullptr,
                    {&model_global_tokens, {on_globals.data(), to_size(on_globals.size())}}};
  action(own);
}

void GlobalTokenFilter::weights_ready(AttentionHead& head) {
  pass(head, [&](AttentionHead& own) {
    const std::span<const float> now = own.non_token_weights.weights;
    const std::vector<float> before(now.begin(), now.end());
    observer_.weights_ready(own);
    if (!own.changed.any()) return;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!own.changed.has(to_index(i))) continue;
      head.changed.add(globals_ + to_index(i));
      const float after = now[i];
      if (after == before[i] || before[i] == 0) continue;
      head.weights.row(globals_ + to_index(i)).head(globals_) *= after / before[i];
    }
    const bool is_off = !before.empty() && own.weights.isZero(0.0F) &&
                        std::count(now.begin(), now.end(), 0.0F) == std::ssize(now);
    if (!is_off) return;
    head.weights.setZero();
    head.changed.add_all();
  });
}

void GlobalTokenFilter::output_ready(const AttentionHead& head) {
  pass(head, [this](const AttentionHead& own) { observer_.output_ready(own); });
}

void GlobalTokenFilter::stage_ready(const StageView& view) {
  Matrix rows(offsets_.back(), view.rows.cols());
  const auto for_each_sentence = [this](auto&& copy) {
    for (Index b = 0; b + 1 < std::ssize(offsets_); ++b) {
      const Index first = at(offsets_, b);
      copy(first, first + (b + 1) * globals_, at(offsets_, b + 1) - first);
    }
  };
  for_each_sentence([&](Index own, Index among_all, Index length) {
    rows.middleRows(own, length) = view.rows.middleRows(among_all, length);
  });
  MatrixRef writable = rows;
  observer_.stage_ready(
      {view.site, view.layer, view.stage, rows, view.writable != nullptr ? &writable : nullptr});
  if (view.writable == nullptr) return;
  for_each_sentence([&](Index own, Index among_all, Index length) {
    view.writable->middleRows(among_all, length) = rows.middleRows(own, length);
  });
}

GlobalProjections project_global_tokens(const MultiHeadAttention& layer,
                                        std::span<const AttentionGroup> groups,
                                        const ConstMatrixRef& x, Matrix& work) {
  const Index d_model = x.cols();
  work.resize(x.rows(), 3 * d_model);
  for (const AttentionGroup& group : groups) {
    for (const Index position : group.globals) {
      if (position >= group.queries) break;
      const Index row = group.first_query + position;
      layer.query_projection(x.middleRows(row, 1), work.middleRows(row, 1).leftCols(d_model));
    }
  }
  layer.kv_projection(x, work.rightCols(2 * d_model));
  return {work.leftCols(d_model), keys_and_values(work.rightCols(2 * d_model))};
}

}  // namespace attn
