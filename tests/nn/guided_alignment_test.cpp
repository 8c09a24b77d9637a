// Tests guided alignment against PyTorch (tests/golden/make_guided_alignment_goldens.py).
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "base/json.h"
#include "nn/attention/guided_alignment.h"
#include "nn/attention/multi_head_attention.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

DoubleMatrix golden_matrix(const Json& golden, const char* key) {
  const auto rows = golden[key].get<std::vector<std::vector<double>>>();
  DoubleMatrix m(std::ssize(rows), std::ssize(rows[0]));
  for (Index t = 0; t < m.size(); ++t) m.data()[t] = at(at(rows, t / m.cols()), t % m.cols());
  return m;
}

/// One case of the golden file, in the form that the functions under test take.
struct GuidedCase {
  explicit GuidedCase(const Json& golden)
      : queries(golden_matrix(golden, "queries").cast<float>()),
        keys_values(golden_matrix(golden, "keys").rows(), 2 * queries.cols()),
        doutput(golden_matrix(golden, "doutput").cast<float>()),
        heads(golden["guided"].get<std::vector<int>>()),
        weight(golden["weight"]) {
    keys_values.leftCols(queries.cols()) = golden_matrix(golden, "keys").cast<float>();
    keys_values.rightCols(queries.cols()) = golden_matrix(golden, "values").cast<float>();
    Index query = 0, key = 0;
    for (const auto& [rows, columns] :
         golden["sentences"].get<std::vector<std::pair<Index, Index>>>()) {
      groups.push_back({std::ssize(groups), query, rows, key, columns, nullptr, {}, {}, 0});
      query += rows;
      key += columns;
    }
    for (const Json& link : golden["links"]) {
      links.push_back({link[0].get<Index>(), link[1].get<Index>(), link[2].get<float>()});
    }
    shape.site = AttentionSite::cross;
    shape.heads = golden["heads"].get<Index>();
    shape.head_dim = queries.cols() / shape.heads;
    shape.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  }

  Matrix queries, keys_values, doutput;
  std::vector<int> heads;
  float weight;
  std::vector<AttentionGroup> groups;
  std::vector<TokenLink> links;
  AttentionShape shape;
};

}  // namespace

TEST_CASE("guided alignment: loss and gradients are PyTorch's") {
  const Json goldens =
      read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/guided_alignment.json");
  REQUIRE(goldens.size() == 3);
  for (const Json& golden : goldens) {
    GuidedCase c(golden);
    const Index width = c.queries.cols();
    const AttentionInput input{c.queries, keys_and_values(c.keys_values), c.groups};
    Matrix output(c.queries.rows(), width);
    SavedForBackward saved;
    attend_training(c.shape, input, {}, output, saved);
    std::vector<float> dweights(saved.weights.size());
    const double loss =
        guided_alignment_loss(c.shape, c.groups, saved, {c.links, c.heads, c.weight, 1}, dweights);
    CHECK(loss == doctest::Approx(golden["loss"].get<double>()).epsilon(1e-5));
    Matrix dqueries(c.queries.rows(), width);
    Matrix dkeys_values(c.keys_values.rows(), 2 * width);
    attend_backward_with_weights(c.shape, input, saved, {c.doutput, dweights},
                                 input_gradient(dqueries, dkeys_values));
    CHECK(largest_error(dqueries, golden_matrix(golden, "dqueries")) < 2e-6);
    CHECK(largest_error(dkeys_values.leftCols(width), golden_matrix(golden, "dkeys")) < 2e-6);
    CHECK(largest_error(dkeys_values.rightCols(width), golden_matrix(golden, "dvalues")) < 2e-6);
  }
}

TEST_CASE("guided alignment refuses links outside of the sentence") {
  const Json goldens =
      read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/guided_alignment.json");
  GuidedCase c(goldens[0]);
  const AttentionInput input{c.queries, keys_and_values(c.keys_values), c.groups};
  Matrix output(c.queries.rows(), c.queries.cols());
  SavedForBackward saved;
  attend_training(c.shape, input, {}, output, saved);
  std::vector<float> dweights(saved.weights.size());
  for (const TokenLink& link : {TokenLink{0, 4, 1}, TokenLink{5, 0, 1}}) {
    const std::vector<TokenLink> links{link};
    CHECK_THROWS_AS(
        guided_alignment_loss(c.shape, c.groups, saved, {links, c.heads, 1, 1}, dweights),
        std::logic_error);
  }
}
