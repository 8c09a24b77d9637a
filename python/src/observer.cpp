#include "observer.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "interpreter.h"

namespace py = pybind11;

namespace attn {

const AttentionHead& PythonHead::head() const {
  if (head_ == nullptr) {
    throw py::value_error("a head can be read while fn runs; keep its arrays, which are copies");
  }
  return *head_;
}

PythonHead::Array PythonHead::copy(const ConstMatrixRef& matrix) {
  Array made({matrix.rows(), matrix.cols()});
  Eigen::Map<Matrix>(made.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
  return made;
}

PythonHead::Array PythonHead::weights() {
  if (!weights_) weights_ = copy(head().weights);
  return *weights_;
}

void PythonHead::set_weights(const Array& weights) {
  const MatrixRef& own = head().weights;
  if (weights.ndim() != 2 || weights.shape(0) != own.rows() || weights.shape(1) != own.cols()) {
    throw py::value_error("weights of this head have the shape (" + std::to_string(own.rows()) +
                          ", " + std::to_string(own.cols()) + ")");
  }
  weights_ = copy(Eigen::Map<const Matrix>(weights.data(), own.rows(), own.cols()));
}

AttentionHead* PythonHead::detach() {
  return std::exchange(head_, nullptr);
}

void PythonHead::apply_weights() {
  AttentionHead* head = detach();
  if (!weights_) return;
  if (weights_->size() != head->weights.size()) {
    throw py::value_error("weights were resized in place; assign others instead");
  }
  const Eigen::Map<const Matrix> now(weights_->data(), head->weights.rows(), head->weights.cols());
  for (Index i = 0; i < now.rows(); ++i) {
    if (now.row(i) == head->weights.row(i)) continue;
    head->weights.row(i) = now.row(i);
    head->changed.add(i);
  }
}

void PythonObserver::stage_ready(const StageView& view) {
  if (view.stage == Stage::embedded) position_ = std::exchange(next_position_, std::nullopt);
}

void PythonObserver::weights_ready(AttentionHead& head) {
  const GilAcquire lock;
  const auto head_object = std::make_shared<PythonHead>(head, position_);
  try {
    fn_(head_object);
  } catch (...) {
    head_object->detach();
    throw;
  }
  head_object->apply_weights();
}

void bind_heads(py::module_& module) {
  using HeadClass = py::class_<PythonHead, std::shared_ptr<PythonHead>>;
  HeadClass(
      module, "Head",
      "One head while it is computed: what fn of Model.observe() gets. L queries (in a beam search "
      "the\nbeams of a sentence), S keys, K columns. Arrays are copies and may be kept; the head "
      "itself ends\nwith the call.")
      .def_property_readonly(
          "kind", [](const PythonHead& h) { return site_key(h.head().site); },
          "\"encoder\", \"decoder\" or \"cross\".")
      .def_property_readonly(
          "layer", [](const PythonHead& h) { return h.head().layer; }, "From 0.")
      .def_property_readonly(
          "head", [](const PythonHead& h) { return h.head().head; }, "From 0.")
      .def_property_readonly(
          "sentence", [](const PythonHead& h) { return h.head().sentence; },
          "In its batch, from 0.")
      .def_property_readonly(
          "scale", [](const PythonHead& h) { return h.head().scale; },
          "Of the scores: 1 / sqrt(K) in most models.")
      .def_property_readonly(
          "position", &PythonHead::position,
          "Of all queries in their sentences while a search writes word by word; "
          "None: query i stands at i.")
      .def_property_readonly("query", &PythonHead::query, "[L, K].")
      .def_property_readonly("key", &PythonHead::key, "[S, K].")
      .def_property_readonly("value", &PythonHead::value, "[S, K].")
      .def_property_readonly("scores", &PythonHead::scores,
                             "[L, S] scale * query @ key.T, before the mask.")
      .def_property_readonly(
          "mask", &PythonHead::mask,
          "[L, S] added to scores: 0, or a pattern's bias, where a query may look, else -inf.")
      .def_property(
          "weights", &PythonHead::weights, &PythonHead::set_weights,
          "[L, S] softmax of scores + mask. What is written here is what the model goes on "
          "with.");
}

}  // namespace attn
