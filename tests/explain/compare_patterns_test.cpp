// Tests that sparse patterns are compared with exact attention, and that a pattern that sees
// everything misses nothing.
#include "explain/compare_patterns.h"

#include "check_error.h"
#include "golden_model.h"
#include "recomputed.h"

namespace attn::test {
namespace {

AttentionRecord sentence_of(const Transformer& model, Index tokens) {
  AttentionRecord record;
  record.model.encoder_layers = model.config().encoder_layers;
  for (Index i = 0; i < tokens; ++i) {
    record.source.ids.push_back(i + 1 == tokens ? 0 : to_int(5 + i % 7));
    record.source.tokens.push_back("t");
  }
  return record;
}

Explanation compared(const Transformer& model, const AttentionRecord& record,
                     const std::vector<AttentionPattern>& kinds) {
  PatternTranslations translations{{"a", -1}, {}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    translations.of.push_back({i == 0 ? "a" : "b", -2.5});
  }
  return compare_patterns(model, record, kinds, translations);
}

}  // namespace

TEST_CASE("shortcuts: what every kind misses of every head") {
  GoldenModel golden(full_golden_names().front());
  const Transformer& model = golden.model.transformer;
  const AttentionRecord record = sentence_of(model, 12);
  std::vector<AttentionPattern> kinds = patterns_to_compare(12);
  REQUIRE(kinds.size() == 9);
  const Explanation e = compared(model, record, kinds);
  REQUIRE(e.steps.size() == 10);
  CHECK(e.steps[0].id == "kinds");
  CHECK(e.steps[1].lines[0] ==
        "the translation stays; the target's log-probability: −2.5000 instead of −1.0000");
  CHECK(e.steps[2].lines[0] ==
        "the translation becomes “b”; the target's log-probability: −2.5000 instead of −1.0000");
  const int heads = model.config().encoder_layers * model.config().encoder_heads;
  for (std::size_t k = 1; k < e.steps.size(); ++k) {
    CAPTURE(e.steps[k].id);
    const NamedMatrix& table = e.steps[k].matrices.at(0);
    REQUIRE(table.rows == heads);
    for (int row = 0; row < heads; ++row) {
      const float missed = table.values[to_size(3 * row)],
                  error = table.values[to_size(3 * row + 1)];
      CHECK((missed > 0 && missed < 1));
      CHECK(error > 0);
    }
  }
  CHECK(e.steps[1].title == "window, window 2");
}

TEST_CASE(
    "shortcuts: of a window what is missed, the error and the first keys are those without the "
    "keys outside") {
  GoldenModel golden(full_golden_names().front());
  const Transformer& model = golden.model.transformer;
  const AttentionRecord record = sentence_of(model, 12);
  const std::vector<AttentionPattern> kinds = patterns_to_compare(12);
  struct Outside : AttentionObserver {
    std::vector<double> mass, error, stays;
    void weights_ready(AttentionHead& head) override {
      double sum = 0;
      for (Index i = 0; i < 12; ++i) {
        for (Index j = 0; j < 12; ++j) {
          if (std::abs(i - j) > 1) sum += static_cast<double>(head.weights(i, j)) / 12;
        }
      }
      mass.push_back(sum);
      Matrix kept = head.weights;
      double same = 0;
      for (Index i = 0; i < 12; ++i) {
        Index first = 0;
        kept.row(i).maxCoeff(&first);
        same += std::abs(i - first) <= 1 ? 1.0 / 12 : 0;
        for (Index j = 0; j < 12; ++j) {
          if (std::abs(i - j) > 1) kept(i, j) = 0;
        }
        kept.row(i) /= kept.row(i).sum();
      }
      stays.push_back(same);
      const Matrix exact = head.weights * head.value;
      const Matrix lost = kept * head.value - exact;
      error.push_back(static_cast<double>(lost.norm() / exact.norm()));
    }
  } outside;
  model.encode(pack({record.source.ids}), &outside);
  const Explanation e = compared(model, record, kinds);
  const NamedMatrix& table = e.steps[1].matrices.at(0);
  for (std::size_t h = 0; h < outside.mass.size(); ++h) {
    CHECK(static_cast<double>(table.values[3 * h]) ==
          doctest::Approx(outside.mass[h]).epsilon(1e-4));
    CHECK(static_cast<double>(table.values[3 * h + 1]) ==
          doctest::Approx(outside.error[h]).epsilon(1e-4));
    CHECK(static_cast<double>(table.values[3 * h + 2]) == doctest::Approx(outside.stays[h]));
  }
}

TEST_CASE("shortcuts that see all are exact, and a model's observer changes its encoder alone") {
  GoldenModel golden(full_golden_names().front());
  const Transformer& model = golden.model.transformer;
  const AttentionRecord record = sentence_of(model, 12);
  std::vector<AttentionPattern> kinds = patterns_to_compare(12);
  kinds[0].windows = {24};
  kinds[5].block_size = 12;
  kinds[6].rank = 12;
  const Explanation e = compared(model, record, {kinds[0], kinds[5], kinds[6]});
  for (std::size_t k = 1; k <= 3; ++k) {
    CAPTURE(e.steps[k].id);
    for (std::size_t i = 0; i < e.steps[k].matrices[0].values.size(); ++i) {
      CHECK(e.steps[k].matrices[0].values[i] == doctest::Approx(i % 3 == 2 ? 1 : 0).epsilon(1e-5));
    }
  }
  const Matrix exact = model.encode(pack({record.source.ids})).rows;
  SparsePatternObserver all(kinds[0]);
  CHECK((model.encode(pack({record.source.ids}), &all).rows - exact).cwiseAbs().maxCoeff() < 1e-5F);
}

TEST_CASE("shortcuts are for models whose encoder is full, and for sentences with tokens") {
  GoldenModel golden(full_golden_names().front());
  const Transformer& model = golden.model.transformer;
  check_error([&] { compared(model, sentence_of(model, 1), patterns_to_compare(1)); },
              ExitCode::input, "the sentence has no tokens; there is nothing to explain");
}

}  // namespace attn::test
