// From the model's matrices to named ones, and numbers as a person writes them on a blackboard.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/matmul.h"
#include "compute/tensor.h"
#include "record/explanation.h"

namespace attn {

NamedMatrix named_matrix(std::string name, const ConstMatrixRef& rows);
/// The columns [begin, end) of a parameter.
NamedMatrix named_matrix(std::string name, const Parameter& parameter, Index begin, Index end);
NamedMatrix named_matrix(std::string name, const Parameter& parameter);

/// InputError naming the model and the step where a matrix holds NaN or ∞. −∞ is what a mask adds.
void check_finite_matrices(const Explanation& explanation, std::string_view model);

/// "[6, 12]"
std::string shape_of(Index rows, Index columns);

/// Four decimals, a real minus sign, "−∞" for what a mask forbids.
std::string number(double value);

/// "0.1000·0.2000 + … + 0.3000·0.1000 = 0.0500": the first and last `shown` products of a sum.
std::string sum_of_products(const RowVector& a, const RowVector& b, Index shown, double result);

}  // namespace attn
