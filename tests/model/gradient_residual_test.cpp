// Tests the residual connection around a block, in both orders, against numeric gradients of the
// formula in double. The block is a linear layer, which reads, replaces and adds as all blocks do.
#include <doctest/doctest.h>

#include "model/training/training_residual.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kRows = 7;
constexpr Index kWidth = 13;

/// The formula in double; the block is x · Wᵀ.
struct Reference {
  bool normalize_before;
  DoubleMatrix x, norm_weight, norm_bias, weight, mask;

  DoubleMatrix block(const DoubleMatrix& in) const {
    return (in * weight.transpose()).cwiseProduct(mask);
  }
  DoubleMatrix output() const {
    if (normalize_before) return x + block(normalised(x, norm_weight, norm_bias));
    return normalised(x + block(x), norm_weight, norm_bias);
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
  const ConstMatrixRef in = residual.pre_norm(x);
  residual.out().setConstant(NAN);
  linear.forward(in, residual.out());
  const ConstMatrixRef y = residual.add_and_norm(x, dropout);
  CHECK(largest_error(y, r.output()) < 2e-6);
  CHECK(residual.output() == y);

  Matrix dx = dy;
  ResidualScratch scratch;
  for (ActivationBuffer* buffer : {&scratch.dout, &scratch.dnormal}) {
    buffer->resize(kRows + 3, kWidth).setConstant(NAN);
  }
  const ConstMatrixRef dout = residual.add_and_norm_backward(dx, scratch);
  linear.backward(residual.block_input(x), dout, residual.block_input_gradient(dx, scratch));
  residual.pre_norm_backward(x, dx, scratch);
  CHECK(largest_error(dx, numeric_gradient(r.x, loss)) < 2e-6);
  CHECK(largest_error(dnorm_weight.added(), numeric_gradient(r.norm_weight, loss)) < 2e-6);
  CHECK(largest_error(dnorm_bias.added(), numeric_gradient(r.norm_bias, loss)) < 2e-6);
  CHECK(largest_error(dweight.added(), numeric_gradient(r.weight, loss)) < 2e-6);
}

}  // namespace

TEST_CASE("residual: gradients where the norm comes after the sum") {
  check_residual(false, {});
  check_residual(false, {0.3F, 8});
}

TEST_CASE("residual: gradients where the norm comes before the block") {
  check_residual(true, {});
  check_residual(true, {0.3F, 8});
}
