// Linformer: E and F [P, k] project the keys and values of a sentence of n tokens to k rows each;
// only their first n rows are used. Every query attends to those k rows.
//
//   softmax(Q (Eᵀ K)ᵀ · scale) Fᵀ V                                         (Wang et al. 2020)
//
// Maps are n × k, and observers also get E and F. Time and memory grow with n · k.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "compute/matmul.h"
#include "nn/attention/patterns/pattern_attention.h"
#include "nn/attention/patterns/performer_attention.h"

namespace attn {
namespace {

using Rows = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstRows = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

AttentionShape exact(AttentionShape shape) {
  shape.pattern = nullptr;
  return shape;
}

void check_linformer(const AttentionInput& input, const AttentionGroup& group) {
  if (input.extras == nullptr || input.extras->key_projection.data == nullptr) {
    throw std::logic_error("linformer has no projections");
  }
  if (group.mask.causal || group.key_rows != nullptr) {
    throw std::logic_error("linformer attends to whole sentences");
  }
  const Index places = input.extras->key_projection.rows;
  if (group.keys <= places) return;
  throw InputError("a sentence of {} tokens is longer than linformer's projections of {} positions",
                   group.keys, places);
}

/// Returns the rows of E or F for the keys that are not padding [n, k].
Matrix rows_for(const Parameter& projection, const UnpaddedKeys& keys) {
  Matrix rows(keys.count(), projection.columns);
  for (Index n = 0; n < keys.count(); ++n) {
    for (Index c = 0; c < projection.columns; ++c) rows(n, c) = projection.at(keys.position(n), c);
  }
  return rows;
}

/// Returns the rows of these keys, or of their values [n, D].
Matrix shown_rows(const float* base, Index stride, Index width, const AttentionGroup& group,
                  const UnpaddedKeys& keys) {
  Matrix rows(keys.count(), width);
  for (Index n = 0; n < keys.count(); ++n) {
    rows.row(n) =
        Eigen::Map<const RowVector>(base + (group.first_key + keys.position(n)) * stride, width);
  }
  return rows;
}

/// Computes Eᵀ K and Fᵀ V of every sentence, one below the other → [B · k, 2D].
void compress(const AttentionShape& shape, const AttentionInput& input, MatrixRef rows) {
  const Index width = shape.heads * shape.head_dim;
  const KeysAndValues& memory = input.memory;
  rows.setZero();
  Index first = 0;
  for (const AttentionGroup& group : input.groups) {
    check_linformer(input, group);
    const UnpaddedKeys keys(group);
    const Index rank = input.extras->key_projection.columns;
    add_transposed_matmul(rows_for(input.extras->key_projection, keys),
                          shown_rows(memory.keys, memory.stride, width, group, keys),
                          rows.middleRows(first, rank).leftCols(width), Backend::panels);
    add_transposed_matmul(rows_for(input.extras->value_projection, keys),
                          shown_rows(memory.values, memory.stride, width, group, keys),
                          rows.middleRows(first, rank).rightCols(width), Backend::panels);
    first += rank;
  }
}

std::vector<AttentionGroup> compressed_groups(const AttentionInput& input) {
  std::vector<AttentionGroup> groups;
  if (input.extras == nullptr) throw std::logic_error("linformer has no projections");
  const Index rank = input.extras->key_projection.columns;
  for (const AttentionGroup& group : input.groups) {
    const Index first = std::ssize(groups) * rank;
    groups.push_back({group.sentence, group.first_query, group.queries, first, rank, nullptr, {}});
  }
  return groups;
}

/// Returns the rows of E or F for all keys of a sentence, with 0 for padding.
Matrix whole_rows_for(const Parameter& projection, const AttentionGroup& group) {
  const UnpaddedKeys keys(group);
  const Matrix shown = rows_for(projection, keys);
  Matrix rows = Matrix::Zero(group.keys, projection.columns);
  for (Index n = 0; n < keys.count(); ++n) rows.row(keys.position(n)) = shown.row(n);
  return rows;
}

/// Gives an observer E and F, the projections of keys and values, together with the weights.
class LinformerObserver : public AttentionObserver {
 public:
  LinformerObserver(const AttentionInput& input, AttentionObserver& then)
      : input_(input), then_(then) {}

  bool watches(AttentionSite kind, Index layer, Index head) const override {
    return then_.watches(kind, layer, head);
  }
  void weights_ready(AttentionHead& head) override {
    if (sentence_ != head.sentence) {
      sentence_ = head.sentence;
      const auto group =
          std::find_if(input_.groups.begin(), input_.groups.end(),
                       [&](const AttentionGroup& one) { return one.sentence == head.sentence; });
      mixing_ = {whole_rows_for(input_.extras->key_projection, *group),
                 whole_rows_for(input_.extras->value_projection, *group)};
    }
    head.mixing = &mixing_;
    then_.weights_ready(head);
  }
  void output_ready(const AttentionHead& head) override { then_.output_ready(head); }

 private:
  const AttentionInput& input_;
  AttentionObserver& then_;
  Index sentence_ = -1;
  LinformerMatrices mixing_;
};

/// Returns y [n, out] = x [n, in] · weight [in, out].
Matrix product(const ConstMatrixRef& x, const Parameter& weight) {
  Matrix y(x.rows(), weight.columns);
  PackedLinear({weight}, {}, Backend::panels)(x, y);
  return y;
}

/// The keys or the values in the backward pass.
struct Side {
  const float* rows;  ///< rows of all sentences, `stride` apart
  Index stride;
  float* drows;
  Index dstride;
  const Parameter& projection;
  const Parameter& dprojection;
};

/// Computes two gradients from dcompressed [k, D]: that of the rows is E · dcompressed, that of E
/// is rows · dcompressedᵀ.
void back(const Side& side, const AttentionGroup& group, const UnpaddedKeys& keys,
          MatrixRef dcompressed) {
  const Index width = dcompressed.cols();
  const Parameter weight{dcompressed.data(), dcompressed.rows(), width, dcompressed.outerStride(),
                         1};
  Rows drows(side.drows + group.first_key * side.dstride, group.keys, width,
             Eigen::OuterStride<>(side.dstride));
  if (keys.count() < group.keys) drows.setZero();
  if (keys.count() == 0) return;
  const Matrix found = product(rows_for(side.projection, keys), weight);
  for (Index n = 0; n < keys.count(); ++n) drows.row(keys.position(n)) = found.row(n);
  if (!side.dprojection.exists()) return;
  const Matrix dprojection =
      product(shown_rows(side.rows, side.stride, width, group, keys), weight.transposed());
  for (Index n = 0; n < keys.count(); ++n) {
    for (Index c = 0; c < dprojection.cols(); ++c) {
      side.dprojection.element(keys.position(n), c) += dprojection(n, c);
    }
  }
}

/// Linformer attention. Throws std::logic_error without E and F, for causal groups and for keys in
/// a cache, and InputError for sentences longer than E. Training adds to the gradients of E and F.
class LinformerAttention : public PatternAttention {
 public:
  void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
              AttentionObserver* observer) const override {
    const std::vector<AttentionGroup> groups = compressed_groups(input);
    const Index rank = input.extras->key_projection.columns;
    Matrix rows(std::ssize(groups) * rank, 2 * shape.heads * shape.head_dim);
    compress(shape, input, rows);
    std::optional<LinformerObserver> mixing;
    if (observer != nullptr) observer = &mixing.emplace(input, *observer);
    attn::attend(exact(shape), {input.queries, keys_and_values(rows), groups}, output, observer);
  }

  void attend_training(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                       SavedForBackward& saved) const override {
    saved.low_rank_groups = compressed_groups(input);
    const Index rank = input.extras->key_projection.columns;
    MatrixRef rows =
        saved.low_rank.resize(std::ssize(input.groups) * rank, 2 * shape.heads * shape.head_dim);
    compress(shape, input, rows);
    attn::attend_training(exact(shape),
                          {input.queries, keys_and_values(rows), saved.low_rank_groups},
                          saved.dropout, output, saved);
  }

  void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                       const SavedForBackward& saved, const ConstMatrixRef& doutput,
                       AttentionInputGradient gradient) const override {
    const MatrixRef rows = saved.low_rank;
    const Index width = rows.cols() / 2;
    Matrix drows(rows.rows(), rows.cols());
    attn::attend_backward(exact(shape),
                          {input.queries, keys_and_values(rows), saved.low_rank_groups}, saved,
                          doutput, input_gradient(gradient.dqueries, drows));
    const Side key{
        input.memory.keys, input.memory.stride,          gradient.dkeys,
        gradient.stride,   input.extras->key_projection, gradient.extras->key_projection};
    const Side value{input.memory.values,
                     input.memory.stride,
                     gradient.dvalues,
                     gradient.stride,
                     input.extras->value_projection,
                     gradient.extras->value_projection};
    const Index rank = input.extras->key_projection.columns;
    for (std::size_t b = 0; b < input.groups.size(); ++b) {
      const AttentionGroup& group = input.groups[b];
      const UnpaddedKeys keys(group);
      MatrixRef both = drows.middleRows(to_index(b) * rank, rank);
      back(key, group, keys, both.leftCols(width));
      back(value, group, keys, both.rightCols(width));
    }
  }
};

}  // namespace

const PatternAttention& linformer_attention() {
  static const LinformerAttention method;
  return method;
}

}  // namespace attn
