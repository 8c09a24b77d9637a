// Tests that the comparisons show equality where there is equality, and differences otherwise.
#include "explain/explain.h"

#include "check_error.h"
#include "golden_model.h"
#include "recomputed.h"

namespace attn::test {
namespace {

TokenSequence sequence(const std::vector<int>& ids) {
  TokenSequence out{{}, ids};
  for (const int id : ids) out.tokens.push_back("t" + std::to_string(id));
  return out;
}

AttentionRecord record_of(const Transformer& model) {
  AttentionRecord record;
  record.model.encoder_layers = model.config().encoder_layers;
  record.model.decoder_layers = model.config().decoder_layers;
  record.model.encoder_heads = model.config().encoder_heads;
  record.model.decoder_heads = model.config().decoder_heads;
  record.source = sequence({5, 6, 7, 8, 0});
  record.hypotheses.emplace_back();
  record.hypotheses[0].decoder_input = sequence({model.config().decoder_start_token_id, 9, 10});
  record.hypotheses[0].produced = sequence({9, 10, 0});
  return record;
}

/// Returns the bits of the encoder's output.
Matrix encoded(const Transformer& model) {
  return model.encode(pack({{5, 6, 7, 0}})).rows;
}

}  // namespace

TEST_CASE("attention compared, on every golden model") {
  for (const std::string& name : full_golden_names()) {
    CAPTURE(name);
    GoldenModel golden(name);
    Transformer& model = golden.model.transformer;
    const Matrix before = encoded(model);
    const Explanation e = compare_attention(model, record_of(model), {},
                                            {sequence({5, 6, 7, 0}), sequence({7, 6, 5, 0})});
    CHECK(encoded(model) == before);  // the positions are restored

    const NamedMatrix& encoder = matrix_of(e, "origins", "encoder self-attention");
    const NamedMatrix& decoder = matrix_of(e, "origins", "masked decoder self-attention");
    const NamedMatrix& cross = matrix_of(e, "origins", "cross-attention");
    CHECK((encoder.rows == 5 && encoder.columns == 5));
    CHECK((decoder.rows == 3 && decoder.columns == 3));
    CHECK((cross.rows == 3 && cross.columns == 5));

    const ExplanationStep& fused = step_of(e, "fused");
    REQUIRE(fused.matrices.size() == 2);
    CHECK(distance(exact(fused.matrices[0]), exact(fused.matrices[1])) < 2e-6);

    const ExplanationStep& scaling = step_of(e, "scaling");
    const Exact with = exact(scaling.matrices[0]), without = exact(scaling.matrices[1]);
    if (model.config().scale_attention) CHECK(distance(with, exact(cross)) < 1e-6);
    if (!model.config().scale_attention) CHECK(distance(without, exact(cross)) < 1e-6);
    if (model.config().decoder_head_dim() > 1) {
      CHECK(distance(with, without) > 0);
      // Scaling never changes which key has the largest weight.
      for (Eigen::Index i = 0; i < with.rows(); ++i) {
        CHECK(without.row(i).maxCoeff() >= with.row(i).maxCoeff() - 1e-6);
      }
    }

    const Exact order = exact(step_of(e, "positions").matrices[0]);
    REQUIRE(order.rows() == 4);  // 5, 6, 7 and the end symbol
    CHECK(order.col(0).maxCoeff() > 1e-3);
    CHECK(order.col(1).maxCoeff() < 1e-4);
  }
}

TEST_CASE("occurrences of a word start out equal and part") {
  GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  const std::vector<TokenSequence> sentences{sequence({5, 6, 7, 0}), sequence({6, 8, 5, 0})};
  const Explanation e = explain_meaning(model, sentences, {"word", {5}});
  CHECK(e.facts ==
        std::vector<std::string>{"word₁: sentence 1, token 0", "word₂: sentence 2, token 2"});
  CHECK(exact(e, "table", "cosines in the table").minCoeff() == doctest::Approx(1));
  const Exact embedded = exact(e, "embedded", "cosines with positions");
  CHECK(embedded(0, 0) == doctest::Approx(1));
  CHECK(embedded(0, 1) < 0.9999);
  const Exact overview = exact(e, "overview", "cosine of each pair");
  CHECK(overview.rows() == 2 + model.config().encoder_layers);
  CHECK(overview(0, 0) == doctest::Approx(1));
  CHECK(overview(1, 0) == doctest::Approx(embedded(0, 1)));

  // The result after each layer, recomputed from the encoder's own output.
  const Exact last =
      exact(e, "layer_" + std::to_string(model.config().encoder_layers - 1),
            "cosines after layer " + std::to_string(model.config().encoder_layers - 1));
  const Matrix first = model.encode(pack({{5, 6, 7, 0}})).rows;
  const Matrix second = model.encode(pack({{6, 8, 5, 0}})).rows;
  const double expected = static_cast<double>(first.row(0).dot(second.row(2)) /
                                              (first.row(0).norm() * second.row(2).norm()));
  CHECK(last(0, 1) == doctest::Approx(expected).epsilon(1e-4));
}

TEST_CASE("the same place in the same sentence never parts") {
  GoldenModel golden("marian-2-heads-toy");
  const std::vector<TokenSequence> twice{sequence({5, 6, 7, 0}), sequence({5, 6, 7, 0})};
  const Explanation e = explain_meaning(golden.model.transformer, twice, {"w", {6, 7}});
  CHECK(exact(e, "overview", "cosine of each pair").minCoeff() > 0.999999);
}

TEST_CASE("a word that occurs once has no two meanings to compare") {
  GoldenModel golden("marian-2-heads-toy");
  const auto explain = [&](const std::vector<int>& ids) {
    return [&golden, ids] {
      explain_meaning(golden.model.transformer, {sequence({5, 6, 7, 0})}, {"word", ids});
    };
  };
  check_error(explain({6}), ExitCode::input, "occurs once");
  check_error(explain({9}), ExitCode::input, "occurs nowhere");
  check_error(explain({}), ExitCode::input, "occurs nowhere");
}

}  // namespace attn::test
