#include "nn/attention/observed_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/at.h"
#include "nn/attention/attention_mask.h"
#include "paper/attention.h"

namespace attn {

Matrix gather_rows(const GatheredRows& from, Index n, Index width) {
  Matrix out(n, width);
  for (Index j = 0; j < n; ++j) {
    const float* row = from.base + (from.rows != nullptr ? Index{from.rows[j]} : j) * from.stride;
    out.row(j) = Eigen::Map<const RowVector>(row, width);
  }
  return out;
}

ObservedHead::ObservedHead(const AttentionShape& shape_of, const AttentionGroup& group_of,
                           const HeadRows& rows_of)
    : shape(shape_of),
      group(group_of),
      rows(rows_of),
      key(gather_rows(rows.keys, group.keys, shape.head_dim)),
      value(gather_rows(rows.values, group.keys, shape.head_dim)) {}

ObservedHead::ObservedHead(const AttentionShape& shape_of, const AttentionGroup& group_of,
                           const HeadRows& rows_of, Matrix mask_of)
    : ObservedHead(shape_of, group_of, rows_of) {
  mask = std::move(mask_of);
  scores.resize(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    score_row(shape, rows, i, group.keys, scores.row(i).data());
  }
}

AttentionHead ObservedHead::view(Index head) {
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> output(rows.output, group.queries, shape.head_dim,
                                                     Eigen::OuterStride<>(rows.output_stride));
  return {
      .site = shape.site,
      .layer = shape.layer,
      .head = head,
      .sentence = group.sentence,
      .scale = shape.scale,
      .query = {rows.query, group.queries, shape.head_dim, Eigen::OuterStride<>(rows.query_stride)},
      .key = key,
      .value = value,
      .scores = scores,
      .mask = mask,
      .weights = weights,
      .output = output,
      .seen = seen,
      .global_projection_queries = global_projection_queries,
      .relative_bias = relative_bias,
      .hashes = hashes,
      .is_estimate = is_estimate};
}

void ObservedHead::show(Index head, AttentionObserver& observer) {
  AttentionHead shown = view(head);
  observer.weights_ready(shown);
  VisibleValues seen_keys;
  for (Index i = 0; i < group.queries; ++i) {
    if (!shown.changed.has(i)) continue;
    seen_keys.find(weights.row(i).data(), rows.values, group.keys,
                   [&](Index j) { return mask(i, j) != kMinusInfinity; });
    seen_keys.sum(rows.values, rows.head_dim, rows.output + i * rows.output_stride);
  }
  observer.output_ready(shown);
}

namespace {

using Doubles = paper::Matrix;

/// Queries processed at a time. All queries of 8,192 tokens would take half a gigabyte.
constexpr Index kQueriesShown = 256;

/// Returns which keys are seen by at least one query. The rows of other keys hold no valid data:
/// they are padding, or cache rows that a pattern has reused for other positions.
std::vector<bool> keys_in_use(const AttentionGroup& group, const PatternCells* pattern) {
  std::vector<bool> used(to_size(group.keys), pattern == nullptr);
  if (pattern != nullptr) {
    for (const CellRun& run : pattern->runs) {
      std::fill(used.begin() + run.first, used.begin() + run.end, true);
    }
  }
  for (Index j = 0; j < std::ssize(group.mask.key_padding_mask); ++j) {
    if (at(group.mask.key_padding_mask, j) != 0) used[to_size(j)] = false;
  }
  return used;
}

/// Rows of queries, and the keys and values that they read, as the types of lib/paper.
struct PaperRows {
  HeadRows rows;
  Doubles key;    ///< [S, K]
  Doubles value;  ///< [S, K]

  PaperRows(const HeadRows& of, const std::vector<bool>& used)
      : rows(of),
        key(gather_rows(of.keys, std::ssize(used), of.head_dim).cast<double>()),
        value(gather_rows(of.values, std::ssize(used), of.head_dim).cast<double>()) {
    for (std::size_t j = 0; j < used.size(); ++j) {
      if (used[j]) continue;
      key.row(to_index(j)).setZero();
      value.row(to_index(j)).setZero();
    }
  }
  Doubles queries(Index first, Index count) const {
    const GatheredRows from{rows.query + first * rows.query_stride, rows.query_stride, nullptr};
    return gather_rows(from, count, rows.head_dim).cast<double>();
  }
};

/// Shows one head of exact attention to observers.
class ExactObservedHead {
 public:
  ExactObservedHead(const AttentionShape& shape, const AttentionInput& input,
                    const AttentionGroup& group, Index head, MatrixRef& output)
      : head_(head),
        rows_(head_rows({shape, input, group, head}, output)),
        all_(shape, group, rows_) {
    if (!is_dense(shape, group)) all_.seen = &pattern_.emplace(pattern_cells(shape, group, head));
    const std::vector<bool> used = keys_in_use(group, all_.seen);
    own_.emplace(rows_, used);
    all_.key = own_->key.cast<float>();
    all_.value = own_->value.cast<float>();
    if (rows_.relative_bias != nullptr) {  // of the last query: no query has a larger one
      all_.relative_bias = {rows_.relative_bias - (group.queries - 1), to_size(2 * group.keys - 1)};
    }
    if (input.global == nullptr) return;
    const auto end = std::lower_bound(group.globals.begin(), group.globals.end(), group.keys);
    all_.global_projection_queries = group.globals.first(to_size(end - group.globals.begin()));
    global_.emplace(head_rows({shape, input, group, head}, output, true), used);
  }

  void show(AttentionObserver& observer) {
    const AttentionGroup& group = all_.group;
    if (observer.reads_scores()) {
      all_.scores.resize(group.queries, group.keys);
      all_.mask.resize(group.queries, group.keys);
    }
    all_.weights.resize(group.queries, group.keys);
    for_each_part(
        [&](const PaperRows& rows, Index first, Index count) { attend_rows(rows, first, count); });
    AttentionHead shown = all_.view(head_);
    observer.weights_ready(shown);
    if (shown.changed.any()) {
      for_each_part([&](const PaperRows& rows, Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
          if (shown.changed.has(i)) sum_row(rows, i);
        }
      });
    }
    observer.output_ready(shown);
  }

 private:
  /// Calls f(rows, first query, count) for all queries, then again for global tokens with
  /// projections of their own (LED).
  template <typename F>
  void for_each_part(F&& f) const {
    const Index queries = all_.group.queries;
    for (Index i = 0; i < queries; i += kQueriesShown) {
      f(*own_, i, std::min(kQueriesShown, queries - i));
    }
    for (const Index place : all_.global_projection_queries) f(*global_, place, 1);
  }

  Doubles mask_rows(Index first, Index count) const {
    Matrix mask(count, all_.group.keys);
    for (Index r = 0; r < count; ++r) {
      mask_row(all_.group, all_.seen, first + r, mask.row(r).data());
    }
    return mask.cast<double>();
  }

  /// Returns the relative position biases of these queries. The biases of all keys are in one row.
  Matrix relative_bias_rows(Index first, Index count) const {
    Matrix added(count, all_.group.keys);
    for (Index r = 0; r < count; ++r) {
      added.row(r) = Eigen::Map<const RowVector>(rows_.relative_bias - first - r, added.cols());
    }
    return added;
  }

  void attend_rows(const PaperRows& rows, Index first, Index count) {
    const Doubles query = rows.queries(first, count), mask = mask_rows(first, count);
    const auto scale = static_cast<double>(all_.shape.scale);
    const Doubles added = rows_.relative_bias == nullptr
                              ? mask
                              : mask + relative_bias_rows(first, count).cast<double>();
    const Doubles raw = query * rows.key.transpose();  // [L, S]
    const Doubles weights = paper::softmax(raw * scale + added);
    all_.weights.middleRows(first, count) = weights.cast<float>();
    const double longest = std::sqrt(rows.key.rowwise().squaredNorm().maxCoeff());
    const bool small = query.norm() * longest * scale < std::numeric_limits<float>::max();
    if (small && all_.scores.size() == 0) return;
    const Matrix scores = raw.cast<float>() * all_.shape.scale;
    if (!small) forget_rows_without_scores(scores, mask, first);
    if (all_.scores.size() == 0) return;
    all_.scores.middleRows(first, count) = scores;
    all_.mask.middleRows(first, count) = mask.cast<float>();
  }

  /// Sets weights to NaN in rows where every visible key's score is below the smallest float, as
  /// the translation does.
  void forget_rows_without_scores(const Matrix& scores, const Doubles& mask, Index first) {
    for (Index r = 0; r < scores.rows(); ++r) {
      const auto seen = (mask.row(r).array() > -std::numeric_limits<double>::infinity()).eval();
      if ((seen && scores.row(r).array() > kMinusInfinity).any()) continue;
      for (Index j = 0; j < scores.cols(); ++j) {
        if (seen[j]) all_.weights(first + r, j) = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }

  /// Computes the output row for changed weights. Values of keys that the row does not see are
  /// skipped instead of multiplied by 0, because they may be infinite.
  void sum_row(const PaperRows& rows, Index i) {
    const Doubles mask = mask_rows(i, 1);
    paper::Row sum = paper::Row::Zero(rows.value.cols());
    for (Index j = 0; j < mask.cols(); ++j) {
      const auto weight = static_cast<double>(all_.weights(i, j));
      if (mask(0, j) == -std::numeric_limits<double>::infinity() || weight == 0) continue;
      sum += weight * rows.value.row(j);
    }
    float* out = rows.rows.output + i * rows.rows.output_stride;
    Eigen::Map<RowVector>(out, sum.size()) = sum.cast<float>();
  }

  Index head_;
  HeadRows rows_;
  ObservedHead all_;
  std::optional<PatternCells> pattern_;
  std::optional<PaperRows> own_;
  std::optional<PaperRows> global_;
};

}  // namespace

void observe_heads(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                   AttentionObserver& observer) {
  for (const AttentionGroup& group : input.groups) {
    for (Index head = 0; head < shape.heads; ++head) {
      if (!observer.watches(shape.site, shape.layer, head)) continue;
      ExactObservedHead(shape, input, group, head, output).show(observer);
    }
  }
}

}  // namespace attn
