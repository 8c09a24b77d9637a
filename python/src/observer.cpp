#include "observer.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace py = pybind11;

namespace attn {

const AttentionHead& WatchedHead::head() const {
  if (head_ == nullptr) {
    throw py::value_error("a head can be read while fn runs; keep its arrays, which are copies");
  }
  return *head_;
}

WatchedHead::Array WatchedHead::copy(const ConstMatrixRef& matrix) {
  Array made({matrix.rows(), matrix.cols()});
  Eigen::Map<Matrix>(made.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
  return made;
}

WatchedHead::Array WatchedHead::weights() {
  if (!weights_) weights_ = copy(head().weights);
  return *weights_;
}

void WatchedHead::set_weights(const Array& weights) {
  const MatrixRef& own = head().weights;
  if (weights.ndim() != 2 || weights.shape(0) != own.rows() || weights.shape(1) != own.cols()) {
    throw py::value_error("weights of this head have the shape (" + std::to_string(own.rows()) +
                          ", " + std::to_string(own.cols()) + ")");
  }
  weights_ = copy(Eigen::Map<const Matrix>(weights.data(), own.rows(), own.cols()));
}

void WatchedHead::finish() {
  AttentionHead* head = std::exchange(head_, nullptr);
  if (!weights_) return;
  head->weights =
      Eigen::Map<const Matrix>(weights_->data(), head->weights.rows(), head->weights.cols());
}

void PythonObserver::stage_ready(const StageView& view) {
  if (view.stage == Stage::embedded) position_ = std::exchange(next_position_, std::nullopt);
}

void PythonObserver::weights_ready(AttentionHead& head) {
  const py::gil_scoped_acquire lock;
  const auto watched = std::make_shared<WatchedHead>(head, position_);
  try {
    fn_(watched);
  } catch (...) {
    watched->finish();
    throw;
  }
  watched->finish();
}

void add_heads(py::module_& module) {
  py::class_<WatchedHead, std::shared_ptr<WatchedHead>>(module, "Head")
      .def_property_readonly("kind", [](const WatchedHead& h) { return kind_word(h.head().kind); })
      .def_property_readonly("layer", [](const WatchedHead& h) { return h.head().layer; })
      .def_property_readonly("head", [](const WatchedHead& h) { return h.head().head; })
      .def_property_readonly("sentence", [](const WatchedHead& h) { return h.head().sentence; })
      .def_property_readonly("scale", [](const WatchedHead& h) { return h.head().scale; })
      .def_property_readonly("position", &WatchedHead::position)
      .def_property_readonly("query", &WatchedHead::query)
      .def_property_readonly("key", &WatchedHead::key)
      .def_property_readonly("value", &WatchedHead::value)
      .def_property_readonly("scores", &WatchedHead::scores)
      .def_property_readonly("mask", &WatchedHead::mask)
      .def_property("weights", &WatchedHead::weights, &WatchedHead::set_weights);
}

}  // namespace attn
