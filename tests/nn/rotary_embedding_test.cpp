// Tests rotary position embedding against its formula in double, and its purpose: dot products
// depend on distances.
#include "nn/embedding.h"

#include <doctest/doctest.h>

#include <cmath>

#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kTurnedHeads = 3, kTurnedColumns = 6, kTurnedPlaces = 40;

/// Returns the row of a head at a position after rotation by the formula.
Eigen::RowVectorXd turned_row(const Eigen::RowVectorXd& x, Index place) {
  Eigen::RowVectorXd y = x;
  const Index half = x.size() / 2;
  for (Index i = 0; i < half; ++i) {
    const double angle = static_cast<double>(place) *
                         std::pow(10000.0, -2.0 * static_cast<double>(i) / double(x.size()));
    y[i] = x[i] * std::cos(angle) - x[i + half] * std::sin(angle);
    y[i + half] = x[i + half] * std::cos(angle) + x[i] * std::sin(angle);
  }
  return y;
}

}  // namespace

TEST_CASE("rotary: every head of every row is turned by its place, and back") {
  const RotaryEmbedding rotation(kTurnedPlaces, kTurnedColumns);
  const std::vector<Index> places{0, 7, 39, 1, 7};
  const Matrix x = random_matrix(std::ssize(places), kTurnedHeads * kTurnedColumns, "x");
  Embedded rows(x);
  rotation.apply_rotary(rows.view(), places, RotaryEmbedding::Direction::forward);
  CHECK(rows.untouched_outside());
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index h = 0; h < kTurnedHeads; ++h) {
      const DoubleMatrix expected = turned_row(
          x.row(t).segment(h * kTurnedColumns, kTurnedColumns).cast<double>(), places[to_size(t)]);
      CHECK(largest_error(rows.view().row(t).segment(h * kTurnedColumns, kTurnedColumns),
                          expected) < 1e-6);
    }
  }
  CHECK(rows.view().row(0) == x.row(0));  // position 0 is not rotated
  rotation.apply_rotary(rows.view(), places, RotaryEmbedding::Direction::backward);
  CHECK(largest_error(rows.view(), x.cast<double>()) < 1e-6);
}

TEST_CASE("rotary: the product of a query and a key depends on their distance alone") {
  const RotaryEmbedding rotation(kTurnedPlaces, kTurnedColumns);
  const Matrix q = random_matrix(1, kTurnedColumns, "q"), k = random_matrix(1, kTurnedColumns, "k");
  const auto product = [&](Index query, Index key) {
    Matrix a = q, b = k;
    rotation.apply_rotary(a, std::vector<Index>{query}, RotaryEmbedding::Direction::forward);
    rotation.apply_rotary(b, std::vector<Index>{key}, RotaryEmbedding::Direction::forward);
    return a.row(0).dot(b.row(0));
  };
  for (const Index distance : {-5, 0, 9}) {
    const float first = product(6, 6 + distance);
    for (const Index query : {8, 17, 30}) {
      CHECK(product(query, query + distance) == doctest::Approx(first).epsilon(1e-5));
    }
  }
  CHECK(std::abs(product(6, 6) - product(6, 9)) > 0.01F);
}
