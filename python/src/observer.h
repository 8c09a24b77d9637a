// A Python function that observes heads and may change their weights.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <string>

#include "nn/attention/attention_observer.h"

namespace attn {

/// A head during its computation, as the function receives it. Arrays are copies, made on first
/// access, so they may be kept; the head itself can only be read during the call.
class PythonHead {
 public:
  using Array = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;

  PythonHead(AttentionHead& head, std::optional<Index> position)
      : head_(&head), position_(position) {}

  /// Throws ValueError after the call.
  const AttentionHead& head() const;
  std::optional<Index> position() const { return position_; }
  Array query() const { return copy(head().query); }
  Array key() const { return copy(head().key); }
  Array value() const { return copy(head().value); }
  Array scores() const { return copy(head().scores); }
  Array mask() const { return copy(head().mask); }
  /// Returns the weights [L, S]; the model continues with any values written to them.
  Array weights();
  /// Throws ValueError for another shape.
  void set_weights(const Array& weights);

  /// Ends the call and passes changed weights on. Throws ValueError if their size has changed.
  void apply_weights();
  /// Ends the call after an exception and returns the head, which can no longer be read.
  AttentionHead* detach();

 private:
  static Array copy(const ConstMatrixRef& matrix);

  AttentionHead* head_;
  std::optional<Index> position_;
  std::optional<Array> weights_;
};

/// Calls fn(head) for every head in the order of computation. Exceptions of fn leave the library as
/// error_already_set.
class PythonObserver : public AttentionObserver {
 public:
  /// `fn` must outlive the observer.
  explicit PythonObserver(pybind11::handle fn) : fn_(fn) {}

  void weights_ready(AttentionHead& head) override;
  void step_begins(Index position) override { next_position_ = position; }
  void stage_ready(const StageView& view) override;

 private:
  pybind11::handle fn_;
  std::optional<Index> next_position_;  ///< of the next pass
  std::optional<Index> position_;       ///< of the current pass
};

void bind_heads(pybind11::module_& module);

}  // namespace attn
