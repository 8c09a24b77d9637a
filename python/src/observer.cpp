#include "observer.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "base/at.h"
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

PythonHead::Array PythonHead::Copy::get(const ConstMatrixRef& own) {
  if (!array_) array_ = copy(own);
  return *array_;
}

void PythonHead::Copy::set(const ConstMatrixRef& own, const Array& array) {
  if (array.ndim() != 2 || array.shape(0) != own.rows() || array.shape(1) != own.cols()) {
    throw py::value_error(fmt::format("{} of this {} have the shape ({}, {})", name_,
                                      std::string_view(name_) == "rows" ? "stage" : "head",
                                      own.rows(), own.cols()));
  }
  array_ = copy(Eigen::Map<const Matrix>(array.data(), own.rows(), own.cols()));
}

std::optional<Eigen::Map<const Matrix>> PythonHead::Copy::left(const ConstMatrixRef& own) const {
  if (!array_) return std::nullopt;
  if (array_->size() != own.size()) {
    throw py::value_error(fmt::format("{} were resized in place; assign others instead", name_));
  }
  return std::optional<Eigen::Map<const Matrix>>(std::in_place, array_->data(), own.rows(),
                                                 own.cols());
}

AttentionHead* PythonHead::detach() {
  return std::exchange(head_, nullptr);
}

void PythonHead::apply_query(AttentionHead& head) const {
  const auto now = query_.left(head.query);
  if (!now) return;
  const Index keys = head.key.rows(), queries = head.query.rows();
  for (Index i = 0; i < queries; ++i) {
    if (now->row(i) == head.query.row(i)) continue;
    const auto own_projections = head.global_projection_queries;
    if (head.is_estimate || head.hashes != nullptr || !head.non_token_weights.weights.empty() ||
        std::find(own_projections.begin(), own_projections.end(), i) != own_projections.end()) {
      throw py::value_error(
          "the query of this head cannot be replaced: its weights are no softmax of the scores "
          "shown; write weights instead");
    }
    Eigen::RowVectorXd scores = static_cast<double>(head.scale) *
                                (now->row(i).cast<double>() * head.key.cast<double>().transpose());
    scores += head.mask.row(i).cast<double>();
    if (!head.relative_bias
             .empty()) {  // indexed by key − query + S − 1; the queries are the last keys
      const Index first = queries - 1 - i;
      for (Index j = 0; j < keys; ++j) {
        scores[j] += static_cast<double>(at(head.relative_bias, first + j));
      }
    }
    if (!std::isfinite(scores.maxCoeff())) continue;  // sees no key
    const Eigen::RowVectorXd weights = (scores.array() - scores.maxCoeff()).exp();
    head.weights.row(i) = (weights / weights.sum()).cast<float>();
    head.changed.add(i);
  }
}

HeadChanges PythonHead::apply() {
  AttentionHead& head = *detach();
  HeadChanges changes;
  const Matrix shown = head.weights;
  apply_query(head);
  if (const auto now = weights_.left(shown)) {
    for (Index i = 0; i < now->rows(); ++i) {
      if (now->row(i) == shown.row(i)) continue;
      head.weights.row(i) = now->row(i);
      head.changed.add(i);
    }
  }
  if (const auto now = value_.left(head.value); now && *now != head.value) {
    changes.value_difference = *now - head.value;
  }
  if (const auto now = output_.left(head.output)) {
    for (Index i = 0; i < now->rows(); ++i) {
      if (now->row(i) != head.output.row(i)) changes.output.emplace_back(i, now->row(i));
    }
  }
  return changes;
}

const StageView& PythonStage::view() const {
  if (view_ == nullptr) {
    throw py::value_error("a stage can be read while the function runs; keep its rows, a copy");
  }
  return *view_;
}

const char* PythonStage::name() const {
  constexpr std::array<const char*, 15> names{"embedded",
                                              "block_input",
                                              "normed_input",
                                              "projected",
                                              "memory",
                                              "heads",
                                              "attn_output",
                                              "block_sum",
                                              "block_output",
                                              "feed_forward_normed",
                                              "feed_forward_hidden",
                                              "feed_forward_output",
                                              "feed_forward_sum",
                                              "layer_output",
                                              "stack_output"};
  static_assert(names.size() == static_cast<std::size_t>(Stage::stack_output) + 1);
  return at(names, view().stage);
}

void PythonStage::apply() {
  const StageView& view = *std::exchange(view_, nullptr);
  const auto now = rows_.left(view.rows);
  if (!now || *now == view.rows) return;
  if (view.writable == nullptr) {
    throw py::value_error(
        "the model does not read the rows of this stage again; write to those of a later one");
  }
  *view.writable = *now;
}

namespace {

/// Calls a Python function with an object that ends with the call.
template <typename Object, typename... Arguments>
std::shared_ptr<Object> call(py::handle fn, Arguments&&... arguments) {
  const auto object = std::make_shared<Object>(std::forward<Arguments>(arguments)...);
  try {
    fn(object);
  } catch (...) {
    object->detach();
    throw;
  }
  return object;
}

}  // namespace

void PythonObserver::stage_ready(const StageView& view) {
  if (view.stage == Stage::embedded) position_ = std::exchange(next_position_, std::nullopt);
  if (!stages_) return;
  const GilAcquire lock;
  call<PythonStage>(stages_, view, position_)->apply();
}

void PythonObserver::weights_ready(AttentionHead& head) {
  if (!fn_) return;
  const GilAcquire lock;
  changes_ = call<PythonHead>(fn_, head, position_)->apply();
}

void PythonObserver::output_ready(const AttentionHead& head) {
  const HeadChanges changes = std::exchange(changes_, {});
  MatrixRef output = head.output;
  if (changes.value_difference) {
    for (Index i = 0; i < output.rows(); ++i) {
      const auto own = head.global_projection_queries;  // these read values of their own
      if (std::find(own.begin(), own.end(), i) != own.end()) continue;
      output.row(i) +=
          (head.weights.row(i).cast<double>() * changes.value_difference->cast<double>())
              .cast<float>();
    }
  }
  for (const auto& [row, numbers] : changes.output) output.row(row) = numbers;
}

void bind_heads(py::module_& module) {
  using HeadClass = py::class_<PythonHead, std::shared_ptr<PythonHead>>;
  HeadClass(
      module, "Head",
      "A head while it is computed, as passed to the fn of Model.observe(). It has L queries (in a "
      "beam\nsearch, the beams of a sentence), S keys and K columns. The arrays are copies that "
      "you "
      "may keep;\nthe head itself is only valid during the call.")
      .def_property_readonly(
          "kind", [](const PythonHead& h) { return site_key(h.head().site); },
          "\"encoder\", \"decoder\" or \"cross\".")
      .def_property_readonly(
          "layer", [](const PythonHead& h) { return h.head().layer; }, "From 0.")
      .def_property_readonly(
          "head", [](const PythonHead& h) { return h.head().head; }, "From 0.")
      .def_property_readonly(
          "sentence", [](const PythonHead& h) { return h.head().sentence; },
          "The number of the sentence in its batch, from 0.")
      .def_property_readonly(
          "scale", [](const PythonHead& h) { return h.head().scale; },
          "The factor of the scores: 1 / sqrt(K) in most models.")
      .def_property_readonly(
          "position", &PythonHead::position,
          "The position of all queries in their sentences while a search writes word by word; "
          "None: query i is at position i.")
      .def_property("query", &PythonHead::query, &PythonHead::set_query,
                    "[L, K]. If you change it, the weights are computed again from it.")
      .def_property_readonly("key", &PythonHead::key, "[S, K].")
      .def_property("value", &PythonHead::value, &PythonHead::set_value,
                    "[S, K]. If you change it, this head uses the new values in this call.")
      .def_property("output", &PythonHead::output, &PythonHead::set_output,
                    "[L, K] weights @ value, as the model computed it. Rows that you change here "
                    "override all other changes.")
      .def_property_readonly("scores", &PythonHead::scores,
                             "[L, S] scale * query @ key.T, before the mask.")
      .def_property_readonly("mask", &PythonHead::mask,
                             "[L, S] added to scores: 0, or a pattern's bias, if a query may look "
                             "at a key, else -inf.")
      .def_property(
          "weights", &PythonHead::weights, &PythonHead::set_weights,
          "[L, S] softmax of scores + mask. If you change rows of it, the model continues with "
          "them.");
  py::class_<PythonStage, std::shared_ptr<PythonStage>>(
      module, "Stage",
      "Rows between the heads while they are computed, as passed to the stages of Model.observe(). "
      "The\nrows are a copy that you may keep; the stage itself is only valid during the call.")
      .def_property_readonly(
          "kind", [](const PythonStage& s) { return site_key(s.view().site); },
          "\"encoder\", \"decoder\" or \"cross\": the attention block; outside of it the stack's.")
      .def_property_readonly(
          "layer", [](const PythonStage& s) { return s.view().layer; }, "From 0.")
      .def_property_readonly("name", &PythonStage::name,
                             "The name of these rows; docs/python.md lists them.")
      .def_property_readonly("position", &PythonStage::position, "The same as for a Head.")
      .def_property("rows", &PythonStage::rows, &PythonStage::set_rows,
                    "[T, D] of all sentences of the batch, one after the other. If you change "
                    "them, the model continues with the new rows.");
}

}  // namespace attn
