// Reads tests/golden/attribution.json: what transformers' classes compute for explanations.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/json.h"
#include "check_error.h"
#include "compute/tensor.h"
#include "golden_model.h"

namespace attn::test {

inline Json attribution_cases() {
  return read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/attribution.json");
}

inline Matrix matrix_of(const Json& rows) {
  Matrix matrix(std::ssize(rows), std::ssize(rows.at(0)));
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      matrix(i, j) = rows.at(to_size(i)).at(to_size(j)).get<float>();
    }
  }
  return matrix;
}

/// Returns the largest difference, relative to the largest expected entry; infinity for other
/// shapes and for NaN.
inline double relative_difference(const Matrix& found, const Json& rows) {
  const Matrix expected = matrix_of(rows);
  if (found.rows() != expected.rows() || found.cols() != expected.cols() || !found.allFinite()) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>((found - expected).cwiseAbs().maxCoeff() /
                             expected.cwiseAbs().maxCoeff());
}

template <typename Action>
void check_input_error(Action&& action, const std::string& part) {
  check_error(action, ExitCode::input, part);
}

/// A case's model; LED's first token is global.
inline LoadedModel model_of(const Json& item) {
  const auto name = item.at("model").get<std::string>();
  LoadedModel loaded = load_model(golden_root() + "/" + name, Backend::panels);
  if (name.starts_with("led-")) loaded.transformer.set_global_positions({0});
  return loaded;
}

}  // namespace attn::test
