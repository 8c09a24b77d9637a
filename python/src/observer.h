// Python functions that observe heads and the rows between them, and may change them.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <string>
#include <utility>

#include "compute/tensor.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// The values and output of a head that a Python function has written. They take effect after the
/// weights.
struct HeadChanges {
  std::optional<Matrix> value_difference;           ///< [S, K] new value − old value
  std::vector<std::pair<Index, RowVector>> output;  ///< rows [K] by query
};

/// A head during its computation, as the function receives it. Arrays are copies, made on first
/// access, so they may be kept; the head itself can only be read during the call.
class PythonHead {
 public:
  using Array = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;

  /// A copy of one of the head's matrices that the function may change or replace.
  class Copy {
   public:
    explicit Copy(const char* name) : name_(name) {}
    Array get(const ConstMatrixRef& own);
    /// Throws ValueError for another shape.
    void set(const ConstMatrixRef& own, const Array& array);
    /// Returns the numbers as the function left them; null if it never asked for them. Throws
    /// ValueError if their size has changed.
    std::optional<Eigen::Map<const Matrix>> left(const ConstMatrixRef& own) const;

   private:
    const char* name_;
    std::optional<Array> array_;
  };

  PythonHead(AttentionHead& head, std::optional<Index> position)
      : head_(&head), position_(position) {}

  /// Throws ValueError after the call.
  const AttentionHead& head() const;
  std::optional<Index> position() const { return position_; }
  Array key() const { return copy(head().key); }
  Array scores() const { return copy(head().scores); }
  Array mask() const { return copy(head().mask); }
  // Arrays that the function may write to; the model continues with the new values.
  Array query() { return query_.get(head().query); }
  Array value() { return value_.get(head().value); }
  Array weights() { return weights_.get(head().weights); }
  Array output() { return output_.get(head().output); }
  void set_query(const Array& array) { query_.set(head().query, array); }
  void set_value(const Array& array) { value_.set(head().value, array); }
  void set_weights(const Array& array) { weights_.set(head().weights, array); }
  void set_output(const Array& array) { output_.set(head().output, array); }

  /// Ends the call, passes on changed weights, and returns the other changes. Throws ValueError
  /// for arrays of another size, and for a new query if the weights are not a softmax of these
  /// scores.
  HeadChanges apply();
  /// Ends the call after an exception and returns the head, which can no longer be read.
  AttentionHead* detach();

 private:
  static Array copy(const ConstMatrixRef& matrix);
  /// Computes the weights of the queries that were changed.
  void apply_query(AttentionHead& head) const;

  AttentionHead* head_;
  std::optional<Index> position_;
  Copy query_{"query"};
  Copy value_{"value"};
  Copy weights_{"weights"};
  Copy output_{"output"};
};

/// The rows of a batch at a stage, as a function receives them. Works like PythonHead.
class PythonStage {
 public:
  PythonStage(const StageView& view, std::optional<Index> position)
      : view_(&view), position_(position) {}

  /// Throws ValueError after the call.
  const StageView& view() const;
  const char* name() const;
  std::optional<Index> position() const { return position_; }
  PythonHead::Array rows() { return rows_.get(view().rows); }
  void set_rows(const PythonHead::Array& array) { rows_.set(view().rows, array); }

  /// Ends the call and passes on changed rows. Throws ValueError if their size has changed, or if
  /// the model does not read them again.
  void apply();
  void detach() { view_ = nullptr; }

 private:
  const StageView* view_;
  std::optional<Index> position_;
  PythonHead::Copy rows_{"rows"};
};

/// Calls fn(head) for every head and stages(stage) for every stage in the order of computation.
/// Their exceptions leave the library as error_already_set.
class PythonObserver : public AttentionObserver {
 public:
  /// One of them may be None. Both must outlive the observer.
  PythonObserver(pybind11::handle fn, pybind11::handle stages)
      : fn_(fn.is_none() && !stages.is_none() ? pybind11::handle() : fn),
        stages_(stages.is_none() ? pybind11::handle() : stages) {}

  bool reads_scores() const override { return static_cast<bool>(fn_); }
  bool watches(AttentionSite, Index, Index) const override { return static_cast<bool>(fn_); }
  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void step_begins(Index position) override { next_position_ = position; }
  void stage_ready(const StageView& view) override;

 private:
  pybind11::handle fn_;                 ///< null: none
  pybind11::handle stages_;             ///< null: none
  HeadChanges changes_;                 ///< of the head between its two calls
  std::optional<Index> next_position_;  ///< of the next pass
  std::optional<Index> position_;       ///< of the current pass
};

void bind_heads(pybind11::module_& module);

}  // namespace attn
