// A Python function that watches heads, and may change their weights.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <string>

#include "nn/attention/attention_observer.h"

namespace attn {

/// One head while it is computed, as the function gets it. Arrays are copies, made when they are
/// asked for, so that they may be kept; the head itself can be read during the call only.
class PythonHead {
 public:
  using Array = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;

  PythonHead(AttentionHead& head, std::optional<Index> position)
      : head_(&head), position_(position) {}

  /// ValueError after the call.
  const AttentionHead& head() const;
  std::optional<Index> position() const { return position_; }
  Array query() const { return copy(head().query); }
  Array key() const { return copy(head().key); }
  Array value() const { return copy(head().value); }
  Array scores() const { return copy(head().scores); }
  Array mask() const { return copy(head().mask); }
  /// [L, S]; what is written to it is what the model goes on with.
  Array weights();
  /// ValueError for another shape.
  void set_weights(const Array& weights);

  /// The call has ended: hands over what was written. ValueError where it has another size by now.
  void apply_weights();
  /// The call has ended by an exception: gives the head, which can be read no more.
  AttentionHead* detach();

 private:
  static Array copy(const ConstMatrixRef& matrix);

  AttentionHead* head_;
  std::optional<Index> position_;
  std::optional<Array> weights_;
};

/// Calls fn(head) for every head, in the order that the model computes them. What fn throws leaves
/// the library as error_already_set.
class PythonObserver : public AttentionObserver {
 public:
  /// `fn` outlives it.
  explicit PythonObserver(pybind11::handle fn) : fn_(fn) {}

  void weights_ready(AttentionHead& head) override;
  void step_begins(Index position) override { next_position_ = position; }
  void stage_ready(const StageView& view) override;

 private:
  pybind11::handle fn_;
  std::optional<Index> next_position_;  ///< of the pass that comes
  std::optional<Index> position_;       ///< of the pass under way
};

void bind_heads(pybind11::module_& module);

}  // namespace attn
