// The residual around a sub-layer, in both orders, against numeric gradients of the formula in
// double. The sub-layer is a linear layer: it reads, replaces and adds as all of them do.
#include <doctest/doctest.h>

#include "model/residual.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kRows = 7;
constexpr Index kWidth = 13;

/// The formula: parameters in double, the sub-layer x · Wᵀ.
struct Reference {
  bool normalize_before;
  DoubleMatrix x, norm_weight, norm_bias, weight, mask;

  DoubleMatrix sublayer(const DoubleMatrix& in) const {
    return (in * weight.transpose()).cwiseProduct(mask);
  }
  DoubleMatrix output() const {
    if (normalize_before) return x + sublayer(normalised(x, norm_weight, norm_bias));
    return normalised(x + sublayer(x), norm_weight, norm_bias);
  }
};

void check_residual(bool normalize_before, const Dropout& dropout) {
  const Matrix x = random_matrix(kRows, kWidth, "x", 2.0F);
  Matrix norm_weight = random_matrix(1, kWidth, "norm weight");
  Matrix norm_bias = random_matrix(1, kWidth, "norm bias");
  Matrix weight = random_matrix(kWidth, kWidth, "weight");
  const Matrix dy = random_matrix(kRows, kWidth, "dy");
  Reference r{normalize_before,         x.cast<double>(),      norm_weight.cast<double>(),
              norm_bias.cast<double>(), weight.cast<double>(), mask_of(dropout, kRows, kWidth)};
  const auto loss = [&] { return weighted(dy, r.output()); };

  AddedTo dnorm_weight(1, kWidth, "dnorm weight");
  AddedTo dnorm_bias(1, kWidth, "dnorm bias");
  AddedTo dweight(kWidth, kWidth, "dweight");
  const TrainableLinear linear({view(weight).transposed(), {}},
                               {view(dweight.now).transposed(), {}}, Backend::panels);
  TrainableResidual residual({view(norm_weight), view(norm_bias)},
                             {view(dnorm_weight.now), view(dnorm_bias.now)}, normalize_before);
  const ConstMatrixRef y =
      residual.forward(x, dropout, [&](const ConstMatrixRef& in, MatrixRef out) {
        out.setConstant(NAN);
        linear.forward(in, out);
      });
  CHECK(largest_error(y, r.output()) < 2e-6);
  CHECK(residual.output() == y);

  Matrix d = dy;
  Buffer scratch[2];
  for (Buffer& buffer : scratch) buffer.resize(kRows + 3, kWidth).setConstant(NAN);
  residual.backward(x, d, scratch,
                    [&](const ConstMatrixRef& in, const ConstMatrixRef& dout,
                        const InputGradient& din) { linear.backward(in, dout, din); });
  CHECK(largest_error(d, numeric_gradient(r.x, loss)) < 2e-6);
  CHECK(largest_error(dnorm_weight.added(), numeric_gradient(r.norm_weight, loss)) < 2e-6);
  CHECK(largest_error(dnorm_bias.added(), numeric_gradient(r.norm_bias, loss)) < 2e-6);
  CHECK(largest_error(dweight.added(), numeric_gradient(r.weight, loss)) < 2e-6);
}

}  // namespace

TEST_CASE("residual: gradients where the norm comes after the sum") {
  check_residual(false, {});
  check_residual(false, {0.3F, 8});
}

TEST_CASE("residual: gradients where the norm comes before the sub-layer") {
  check_residual(true, {});
  check_residual(true, {0.3F, 8});
}
