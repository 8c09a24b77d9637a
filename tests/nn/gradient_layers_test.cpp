// Tests the backward passes of layer norm, embedding and cross-entropy against numeric gradients
// of their formulas in double.
#include <doctest/doctest.h>

#include "base/at.h"
#include "base/json.h"
#include "nn/cross_entropy.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Returns label-smoothed cross-entropy by its definition: a log-softmax, and the mean over
/// classes.
double smoothed_loss(const DoubleMatrix& logits, const std::vector<int>& targets, double smoothing,
                     double* nll = nullptr) {
  double loss = 0;
  for (Index t = 0; t < logits.rows(); ++t) {
    const double top = logits.row(t).maxCoeff();
    const double log_sum = top + std::log((logits.row(t).array() - top).exp().sum());
    const Eigen::RowVectorXd log_p = logits.row(t).array() - log_sum;
    const double at_target = log_p(at(targets, t));
    loss -= (1 - smoothing) * at_target + smoothing * log_p.mean();
    if (nll != nullptr) *nll -= at_target;
  }
  return loss;
}

}  // namespace

TEST_CASE("layer norm: gradients are those of the formula") {
  for (const auto& shape : {std::pair<Index, Index>{7, 5}, {1, 13}, {37, 33}, {16, 2}}) {
    const Index rows = shape.first, columns = shape.second;
    CAPTURE(rows);
    CAPTURE(columns);
    const Matrix x = random_matrix(rows, columns, "x", 3.0F);
    Matrix w = random_matrix(1, columns, "w");
    Matrix b = random_matrix(1, columns, "b");
    const Matrix dy = random_matrix(rows, columns, "dy");
    DoubleMatrix xd = x.cast<double>();
    DoubleMatrix wd = w.cast<double>();
    DoubleMatrix bd = b.cast<double>();
    const auto loss = [&] { return weighted(dy, normalised(xd, wd, bd)); };
    const DoubleMatrix expected_dx = numeric_gradient(xd, loss);

    const LayerNorm norm{view(w), view(b)};
    AddedTo dw(1, columns, "dw");
    AddedTo db(1, columns, "db");
    const LayerNorm gradient{view(dw.now), view(db.now)};
    Embedded dx(poisoned(rows, columns));
    Embedded in(x);
    Embedded dout(dy);
    norm.backward(in.view(), dout.view(), dx.view(), gradient);
    CHECK(largest_error(dx.view(), expected_dx) < 3e-6);
    CHECK(dx.untouched_outside());
    CHECK(largest_error(dw.added(), numeric_gradient(wd, loss)) < 1e-6);
    CHECK(largest_error(db.added(), numeric_gradient(bd, loss)) < 1e-6);

    Matrix in_place = dy;
    norm.backward(x, in_place, in_place, gradient);
    CHECK(in_place == dx.view());
  }
}

TEST_CASE("rms norm: gradients are those of the formula") {
  for (const auto& shape : {std::pair<Index, Index>{7, 5}, {1, 13}, {37, 33}, {16, 2}}) {
    const Index rows = shape.first, columns = shape.second;
    CAPTURE(rows);
    CAPTURE(columns);
    const Matrix x = random_matrix(rows, columns, "x", 3.0F);
    Matrix w = random_matrix(1, columns, "w");
    const Matrix dy = random_matrix(rows, columns, "dy");
    DoubleMatrix xd = x.cast<double>();
    DoubleMatrix wd = w.cast<double>();
    LayerNorm norm{view(w), {}, NormType::rms, 1e-6F};
    const auto formula = [&] {
      DoubleMatrix y = xd;
      for (Index t = 0; t < rows; ++t) {
        const double squares = xd.row(t).squaredNorm() / static_cast<double>(columns);
        y.row(t) = (xd.row(t) / std::sqrt(squares + static_cast<double>(norm.epsilon)))
                       .cwiseProduct(wd.row(0));
      }
      return y;
    };
    const auto loss = [&] { return weighted(dy, formula()); };
    Matrix y(rows, columns);
    norm.forward(x, y);
    CHECK(largest_error(y, formula()) < 1e-6);

    AddedTo dw(1, columns, "dw");
    const LayerNorm gradient{view(dw.now), {}, NormType::rms};
    Embedded dx(poisoned(rows, columns));
    Embedded dout(dy);
    norm.backward(Embedded(x).view(), dout.view(), dx.view(), gradient);
    CHECK(largest_error(dx.view(), numeric_gradient(xd, loss)) < 3e-6);
    CHECK(dx.untouched_outside());
    CHECK(largest_error(dw.added(), numeric_gradient(wd, loss)) < 1e-6);
    Matrix in_place = dy;
    norm.backward(x, in_place, in_place, gradient);
    CHECK(in_place == dx.view());
  }
}

TEST_CASE("layer norm: a row without variance gives finite gradients") {
  const Matrix x = Matrix::Constant(2, 9, 0.25F);
  Matrix w = Matrix::Ones(1, 9);
  Matrix b = Matrix::Zero(1, 9);
  const Matrix dy = random_matrix(2, 9, "dy");
  Matrix dx = poisoned(2, 9);
  Matrix dw = Matrix::Zero(1, 9);
  Matrix db = Matrix::Zero(1, 9);
  LayerNorm{view(w), view(b)}.backward(x, dy, dx, {view(dw), view(db)});
  for (Index t = 0; t < 2; ++t) {  // x̂ = 0, which leaves dy − its mean, times 1 / √ε
    const Eigen::RowVectorXd d = dy.row(t).cast<double>();
    const DoubleMatrix expected =
        (d.array() - d.mean()) / std::sqrt(static_cast<double>(LayerNorm::kLayerNormEpsilon));
    CHECK(largest_error(dx.row(t), expected) < 1e-6);
  }
  CHECK(dw.isZero(0));
}

TEST_CASE("embedding: gradients of repeated tokens add up, padding's row stays") {
  const std::vector<int> ids{3, 0, 3, 6, 3, 1, 6};
  const std::vector<Index> places{0, 1, 2, 0, 1, 2, 3};
  const float scale = 2.5F;
  const Index width = 5;
  const Matrix table = random_matrix(7, width, "table");
  const Matrix positions = random_matrix(6, width, "positions");
  const Matrix dout = random_matrix(7, width, "dout");
  DoubleMatrix td = table.cast<double>();
  DoubleMatrix pd = positions.cast<double>();
  const auto loss = [&] {
    DoubleMatrix y(7, width);
    for (Index t = 0; t < 7; ++t) {
      const auto i = to_size(t);
      y.row(t) = td.row(ids[i]) * static_cast<double>(scale) + pd.row(places[i]);
    }
    return weighted(dout, y);
  };
  const DoubleMatrix expected_table = numeric_gradient(td, loss);
  const DoubleMatrix expected_positions = numeric_gradient(pd, loss);
  for (const int frozen : {-1, 6, 3, 2}) {
    for (const bool learned : {true, false}) {
      CAPTURE(frozen);
      CAPTURE(learned);
      AddedTo dtable(7, width, "dtable");
      AddedTo dpositions(6, width, "dpositions");
      Embedded d(dout);
      embed_backward(d.view(), {ids, places}, frozen,
                     {view(dtable.now), learned ? view(dpositions.now) : Parameter{}, scale});
      DoubleMatrix expected = expected_table;
      if (frozen >= 0) {
        expected.row(frozen).setZero();
        CHECK(dtable.now.row(frozen) == dtable.start.row(frozen));
      }
      CHECK(largest_error(dtable.added(), expected) < 1e-6);
      if (learned) {
        CHECK(largest_error(dpositions.added(), expected_positions) < 1e-6);
      } else {
        CHECK(dpositions.now == dpositions.start);
      }
    }
  }
}

TEST_CASE("embedding: wide rows on several threads have one thread's bits") {
  const Index width = 200;  // more than one chunk of columns
  std::vector<int> ids(601);
  std::vector<Index> places(601);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    ids[t] = to_int(t * 7 % 11);
    places[t] = to_index(t % 13);
  }
  const Matrix dout = random_matrix(601, width, "dout");
  const auto run = [&](int threads) {
    Matrix dtable = random_matrix(11, width, "dtable");
    Matrix dpositions = random_matrix(13, width, "dpositions");
    set_threads(threads);
    embed_backward(dout, {ids, places}, 10, {view(dtable), view(dpositions), 3.0F});
    set_threads(1);
    return std::pair{dtable, dpositions};
  };
  const auto one = run(1);
  CHECK(run(2) == one);
  CHECK(run(3) == one);
  DoubleMatrix expected = random_matrix(11, width, "dtable").cast<double>();
  for (Index t = 0; t < 601; ++t) {
    const int id = at(ids, t);
    if (id != 10) expected.row(id) += 3.0 * dout.row(t).cast<double>();
  }
  CHECK(largest_error(one.first, expected) < 2e-6);
}

TEST_CASE("cross-entropy: loss and gradient are those of the definition") {
  for (const float smoothing : {0.0F, 0.1F, 0.9F}) {
    for (const auto& shape : {std::pair<Index, Index>{7, 37}, {1, 1}, {3, 16}, {5, 2}}) {
      const Index rows = shape.first, classes = shape.second;
      for (const float size : {1.0F, 60.0F}) {
        CAPTURE(smoothing);
        CAPTURE(classes);
        CAPTURE(size);
        const Matrix logits = random_matrix(rows, classes, "logits", size);
        std::vector<int> targets;
        for (Index t = 0; t < rows; ++t) targets.push_back(to_int((t * 11 + 36) % classes));
        const float scale = 0.125F;
        const auto epsilon = static_cast<double>(smoothing);
        DoubleMatrix ld = logits.cast<double>();
        double nll = 0;
        const double loss = smoothed_loss(ld, targets, epsilon, &nll);
        const DoubleMatrix expected = numeric_gradient(
            ld, [&] { return static_cast<double>(scale) * smoothed_loss(ld, targets, epsilon); });
        Embedded found(logits);
        const LossSum sum = cross_entropy(found.view(), targets, smoothing, scale);
        CHECK(sum.tokens == rows);
        CHECK(sum.loss == doctest::Approx(loss).epsilon(1e-6).scale(1));
        CHECK(sum.nll == doctest::Approx(nll).epsilon(1e-6).scale(1));
        CHECK(largest_error(found.view(), expected) < 1e-6);
        CHECK(found.untouched_outside());
      }
    }
  }
}

TEST_CASE("cross-entropy: logits of any size give finite gradients") {
  Matrix logits(3, 5);
  logits << 3e38F, -3e38F, 0, 88, 1,  //
      -3e4F, -3e4F, -3e4F, -3e4F, -3e4F, 1e4F, 1e4F + 1, 0, 0, 0;
  const LossSum sum = cross_entropy(logits, std::vector<int>{0, 2, 1}, 0.0F, 1.0F);
  CHECK(logits.allFinite());
  CHECK(std::isfinite(sum.loss));
  CHECK(logits.row(0).isZero(0));  // certain and correct
  CHECK(logits(1, 2) == doctest::Approx(-0.8));
  CHECK(logits(2, 0) == doctest::Approx(1 / (1 + std::exp(1.0))));
}

TEST_CASE("R-Drop: loss and gradient are PyTorch's (tests/golden/make_r_drop_goldens.py)") {
  const Json goldens = read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/r_drop.json");
  REQUIRE(goldens.size() == 4);
  for (const Json& golden : goldens) {
    const auto matrix = [&](const char* key) {
      const auto rows = golden[key].get<std::vector<std::vector<double>>>();
      DoubleMatrix m(std::ssize(rows), std::ssize(rows[0]));
      for (Index t = 0; t < m.size(); ++t) {
        m.data()[t] = at(at(rows, t / m.cols()), t % m.cols());
      }
      return m;
    };
    const auto targets = golden["targets"].get<std::vector<int>>();
    const float smoothing = golden["smoothing"];
    const float r_drop = golden["r_drop"];
    const double loss = golden["loss"];
    for (const float scale : {1.0F, 0.125F}) {
      Embedded found(matrix("logits").cast<float>());
      const LossSum sum = cross_entropy_r_drop(found.view(), targets, {smoothing, r_drop, scale});
      CHECK(sum.tokens == std::ssize(targets));
      CHECK(sum.loss == doctest::Approx(loss).epsilon(1e-6));
      CHECK(sum.nll == doctest::Approx(golden["nll"].get<double>()).epsilon(1e-6));
      CHECK(largest_error(found.view(), matrix("gradient") * static_cast<double>(scale)) < 1e-6);
      CHECK(found.untouched_outside());
    }
  }
}

TEST_CASE("R-Drop: without its weight, or with twice the same logits, it is cross-entropy") {
  const Matrix one = random_matrix(3, 37, "one", 2.0F);
  const Matrix other = random_matrix(3, 37, "other", 2.0F);
  const std::vector<int> targets{5, 36, 0};
  const auto check = [&](const Matrix& second, float r_drop) {
    Matrix both(6, 37);
    both << one, second;
    Matrix a = one;
    Matrix b = second;
    const LossSum of_a = cross_entropy(a, targets, 0.1F, 0.25F);
    const LossSum of_b = cross_entropy(b, targets, 0.1F, 0.25F);
    const LossSum sum = cross_entropy_r_drop(both, targets, {0.1F, r_drop, 0.5F});
    CHECK(sum.loss == doctest::Approx((of_a.loss + of_b.loss) / 2).epsilon(1e-6));
    CHECK(largest_error(both.topRows(3), a.cast<double>()) < 1e-6);
    CHECK(largest_error(both.bottomRows(3), b.cast<double>()) < 1e-6);
    return sum;
  };
  check(other, 0);
  check(one, 5);
  Matrix both(6, 37);
  both << one, other;
  CHECK(cross_entropy_r_drop(both, targets, {0.1F, 5, 0.5F}).loss > check(other, 0).loss + 1);
}

TEST_CASE("cross-entropy: targets that are no class, or too few of them, are refused") {
  Matrix logits = random_matrix(2, 5, "logits");
  for (const std::vector<int>& targets : {std::vector<int>{0, 5}, {-1, 0}, {0}, {0, 1, 2}}) {
    CHECK_THROWS_AS(cross_entropy(logits, targets, 0.0F, 1.0F), std::logic_error);
    Matrix both = random_matrix(4, 5, "logits");
    CHECK_THROWS_AS(cross_entropy_r_drop(both, targets, {}), std::logic_error);
  }
}
