#include "explain/matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/error.h"

namespace attn {

NamedMatrix named_matrix(std::string name, const ConstMatrixRef& rows) {
  NamedMatrix matrix;
  matrix.name = std::move(name);
  matrix.rows = to_int(rows.rows());
  matrix.columns = to_int(rows.cols());
  matrix.values.reserve(to_size(rows.size()));
  for (Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.outerStride();
    matrix.values.insert(matrix.values.end(), row, row + rows.cols());
  }
  return matrix;
}

NamedMatrix named_matrix(std::string name, const Parameter& parameter, Index begin, Index end) {
  NamedMatrix matrix;
  matrix.name = std::move(name);
  matrix.rows = to_int(parameter.rows);
  matrix.columns = to_int(end - begin);
  matrix.first_column = to_int(begin);
  for (Index i = 0; i < parameter.rows; ++i) {
    for (Index j = begin; j < end; ++j) matrix.values.push_back(parameter.at(i, j));
  }
  return matrix;
}

NamedMatrix named_matrix(std::string name, const Parameter& parameter) {
  return named_matrix(std::move(name), parameter, 0, parameter.columns);
}

void check_finite_matrices(const Explanation& explanation, std::string_view model) {
  constexpr float kMask = -std::numeric_limits<float>::infinity();
  const auto is_number = [](float value) { return std::isfinite(value) || value == kMask; };
  for (const ExplanationStep& step : explanation.steps) {
    for (const NamedMatrix& matrix : step.matrices) {
      if (std::ranges::all_of(matrix.values, is_number)) continue;
      throw InputError(
          "{}: numbers of the step “{}” are not finite; the weights are too large for 32-bit "
          "floats",
          model, step.title);
    }
  }
}

std::string shape_of(Index rows, Index columns) {
  return fmt::format("[{}, {}]", rows, columns);
}

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  if (std::isnan(value)) return "NaN";
  const std::string text = fmt::format("{:.4f}", std::abs(value));
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !zero ? "−" + text : text;
}

std::string sum_of_products(const RowVector& a, const RowVector& b, Index shown, double result) {
  std::string text;
  bool cut = false;
  for (Index i = 0; i < a.size(); ++i) {
    if (a.size() > 2 * shown && i >= shown && i < a.size() - shown) {
      if (!cut) text += " + …";
      cut = true;
      continue;
    }
    if (i > 0) text += " + ";
    text += number(a[i]) + "·" + number(b[i]);
  }
  return text + " = " + number(result);
}

}  // namespace attn
