// Conversion of the model's matrices to named ones, and numbers formatted for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/matmul.h"
#include "compute/tensor.h"
#include "record/explanation.h"

namespace attn {

NamedMatrix named_matrix(std::string name, const ConstMatrixRef& rows);
/// Copies the columns [begin, end) of a parameter.
NamedMatrix named_matrix(std::string name, const Parameter& parameter, Index begin, Index end);
NamedMatrix named_matrix(std::string name, const Parameter& parameter);

/// Throws InputError naming the model and the step if a matrix contains NaN or ∞. −∞ is allowed,
/// because masks add it.
void check_finite_matrices(const Explanation& explanation, std::string_view model);

/// Formats a shape as "[6, 12]".
std::string shape_of(Index rows, Index columns);

/// Formats a number with four decimals and a real minus sign; "−∞" for masked scores.
std::string number(double value);

/// Formats a sum as "0.1000·0.2000 + … + 0.3000·0.1000 = 0.0500", with the first and last `shown`
/// products.
std::string sum_of_products(const RowVector& a, const RowVector& b, Index shown, double result);

}  // namespace attn
