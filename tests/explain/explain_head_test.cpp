// Tests that each number of an explanation follows from the earlier ones, for every head of every
// golden model, and that the weights are PyTorch's.
#include "explain/explain.h"

#include <algorithm>

#include "base/at.h"

#include "check_error.h"
#include "golden_model.h"
#include "model/layers.h"
#include "recomputed.h"

namespace attn::test {
namespace {

constexpr double kRounding = 2e-6;  // error of 32-bit sums, relative to the largest number

AttentionRecord record_of(const GoldenModel& golden, const Json& c) {
  const ModelConfig& config = golden.model.transformer.config();
  AttentionRecord record;
  record.model.d_model = config.d_model;
  record.model.encoder_layers = config.encoder_layers;
  record.model.decoder_layers = config.decoder_layers;
  record.model.encoder_heads = config.encoder_heads;
  record.model.decoder_heads = config.decoder_heads;
  const auto named = [](const std::vector<int>& ids) {
    TokenSequence sequence{{}, ids};
    for (const int id : ids) sequence.tokens.push_back("t" + std::to_string(id));
    return sequence;
  };
  record.source = named(ids_of(c["source_ids"]));
  record.hypotheses.emplace_back();
  record.hypotheses[0].decoder_input = named(ids_of(c["decoder_input_ids"]));
  record.hypotheses[0].produced = named(ids_of(c["target_ids"]));
  return record;
}

void check_embedding(const Explanation& e, const std::string& id, const Transformer& model) {
  if (model.config().normalize_embedding) return;  // otherwise x is normalized once more
  const double scale = static_cast<double>(embedding_scale(model.config()));
  Exact sum = exact(e, id, "E[id]") * scale;
  if (model.config().absolute_positions) sum += exact(e, id, "position");
  CHECK(distance(sum, exact(e, id, "x")) < kRounding);
}

/// Checks Q, K and V of the head against the layer's input.
void check_projection(const Explanation& e, const ExplainedHead& choice, const Transformer& model) {
  const bool cross = choice.site == AttentionSite::cross;
  const std::string in = model.config().normalize_before ? "N" : "X";
  const std::string head = " (head " + std::to_string(choice.head) + ")";
  const ExplanationStep& step = step_of(e, "projection");
  const auto project = [&](const Exact& rows, const std::string& letter) {
    const NamedMatrix* weight = find_matrix(step, "W_" + letter + head);
    REQUIRE(weight != nullptr);
    return affine(rows, exact(*weight), find_matrix(step, "b_" + letter + head));
  };
  const Exact queries = exact(e, "input", in);
  const Exact keys = cross ? exact(e, "input", "M") : queries;
  const Exact q = exact(e, "head", "Q"), k = exact(e, "head", "K"), v = exact(e, "head", "V");
  CHECK(distance(project(queries, "q"), q) < kRounding);
  CHECK(distance(project(keys, "k"), k) < kRounding);
  CHECK(distance(project(keys, "v"), v) < kRounding);

  // They are columns of the fused matrix multiplication, to the bit.
  const NamedMatrix& all = matrix_of(e, "projection", cross ? "Q_all" : "[Q | K | V]_all");
  const NamedMatrix& memory = cross ? matrix_of(e, "projection", "[K | V]_all") : all;
  const ColumnRange marked = all.marked_columns.at(0);
  const Eigen::Index begin = marked.begin, width = marked.end - marked.begin;
  CHECK(all.marked_columns.size() == (cross ? 1 : 3));
  const ModelConfig& config = model.config();
  const bool encoder = choice.site == AttentionSite::encoder_self;
  const Eigen::Index d = encoder ? config.encoder_inner_dim() : config.decoder_inner_dim();
  const Eigen::Index first_key = cross ? 0 : d;
  CHECK(width == q.cols());
  CHECK(exact(all).middleCols(begin, width) == q);
  CHECK(exact(memory).middleCols(first_key + begin, width) == k);
  CHECK(exact(memory).middleCols(first_key + d + begin, width) == v);
}

void check_formula(const Explanation& e, const Transformer& model) {
  const Exact q = exact(e, "head", "Q"), k = exact(e, "head", "K"), v = exact(e, "head", "V");
  const Exact raw = exact(e, "scores", "raw"), scaled = exact(e, "scaled", "scaled");
  const Exact masked = exact(e, "masked", "masked"), weights = exact(e, "weights", "weights");
  CHECK(distance(q * k.transpose(), raw) < kRounding);
  const float scale =
      model.config().scale_attention ? 1.0F / std::sqrt(static_cast<float>(q.cols())) : 1.0F;
  const NamedMatrix& raw_floats = matrix_of(e, "scores", "raw");
  const NamedMatrix& scaled_floats = matrix_of(e, "scaled", "scaled");
  for (std::size_t i = 0; i < raw_floats.values.size(); ++i) {
    CHECK(raw_floats.values[i] * scale == scaled_floats.values[i]);
  }
  const bool biased = std::ranges::any_of(
      e.steps, [](const ExplanationStep& step) { return step.id == "distances"; });
  if (biased) {
    CHECK(distance(scaled + exact(e, "distances", "bias"), exact(e, "distances", "biased")) <
          kRounding);
  }
  const Exact before = biased ? exact(e, "distances", "biased") : scaled;
  CHECK(distance(before + exact(e, "masked", "mask"), masked) == 0);
  CHECK(distance(softmax(masked), weights) < kRounding);
  for (Eigen::Index i = 0; i < weights.rows(); ++i) {
    CHECK(weights.row(i).sum() == doctest::Approx(1).epsilon(1e-5));
  }
}

void check_output(const Explanation& e, const ExplainedHead& choice, const Transformer& model) {
  const std::string name = "head " + std::to_string(choice.head);
  const Exact output = exact(e, "output", name);
  CHECK(distance(exact(e, "weights", "weights") * exact(e, "head", "V"), output) < kRounding);
  const NamedMatrix& heads = matrix_of(e, "heads", "H");
  const ColumnRange own = heads.marked_columns.at(0);
  CHECK(exact(heads).middleCols(own.begin, own.end - own.begin) == output);
  const ExplanationStep& mixing = step_of(e, "mixed");
  const Exact mixed = exact(e, "mixed", "A");
  CHECK(distance(affine(exact(heads), exact(e, "mixed", "W_o"), find_matrix(mixing, "b_o")),
                 mixed) < kRounding);
  const Exact sum = exact(e, "input", "X") + mixed, result = exact(e, "residual", "Y");
  if (model.config().normalize_before) {
    CHECK(distance(sum, result) < 1e-7);
    const Exact x = exact(e, "input", "X"), weight = exact(e, "input", "norm weight");
    const Exact n = exact(e, "input", "N");
    if (model.config().norm == NormType::rms) {
      const double epsilon = static_cast<double>(model.config().norm_epsilon);
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const Exact row = x.row(i) / std::sqrt(x.row(i).array().square().mean() + epsilon);
        CHECK(distance(row.cwiseProduct(weight), n.row(i)) < 1e-5);
      }
      return;
    }
    CHECK(distance(normed(x, weight, exact(e, "input", "norm bias")), n) < 1e-5);
    return;
  }
  CHECK(distance(sum, exact(e, "residual", "R")) < 1e-7);
  CHECK(distance(normed(exact(e, "residual", "R"), exact(e, "residual", "norm weight"),
                        exact(e, "residual", "norm bias")),
                 result) < 1e-5);
}

void check_mask(const Explanation& e, const ExplainedHead& choice) {
  const Exact mask = exact(e, "masked", "mask");
  for (Eigen::Index i = 0; i < mask.rows(); ++i) {
    for (Eigen::Index j = 0; j < mask.cols(); ++j) {
      const bool hidden = choice.site == AttentionSite::decoder_self && j > i;
      CHECK(mask(i, j) == (hidden ? -HUGE_VAL : 0.0));
    }
  }
}

}  // namespace

TEST_CASE("every number of an explanation follows from the ones before, in every golden model") {
  for (const std::string& name : full_golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& model = golden.model.transformer;
    const ModelConfig& config = model.config();
    // The longest golden sentence, so that masks and rows matter.
    const Json* longest = &golden.golden["teacher_forced"][0];
    for (const Json& c : golden.golden["teacher_forced"]) {
      if (c["source_ids"].size() > (*longest)["source_ids"].size()) longest = &c;
    }
    const AttentionRecord record = record_of(golden, *longest);
    if (record.source.ids.size() < 2) continue;
    const double tolerance = std::max(1e-5, 3 * (*longest)["error"]["attention"].get<double>());
    for (const AttentionSite site :
         {AttentionSite::encoder_self, AttentionSite::decoder_self, AttentionSite::cross}) {
      const bool encoder = site == AttentionSite::encoder_self;
      const char* key = encoder                        ? "encoder_self"
                        : site == AttentionSite::cross ? "cross"
                                                       : "decoder_self";
      const int layers = encoder ? config.encoder_layers : config.decoder_layers;
      const int heads = encoder ? config.encoder_heads : config.decoder_heads;
      for (int layer = 0; layer < layers; ++layer) {
        for (int head = 0; head < heads; ++head) {
          const ExplainedHead choice{site, layer, head, 0, 0};
          const Explanation e = explain_head(model, record, choice);
          if (site != AttentionSite::decoder_self) check_embedding(e, "embedding", model);
          if (!encoder) check_embedding(e, "decoder_embedding", model);
          check_projection(e, choice, model);
          check_formula(e, model);
          check_mask(e, choice);
          check_output(e, choice, model);
          const Json& map = at(at((*longest)[key], layer), head);
          const Exact weights = exact(e, "weights", "weights");
          for (Eigen::Index i = 0; i < weights.rows(); ++i) {
            for (Eigen::Index j = 0; j < weights.cols(); ++j) {
              const double expected = at(at(map, i), j).get<double>();
              CHECK(std::abs(weights(i, j) - expected) <= tolerance);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the arithmetic of the chosen query is written out") {
  const GoldenModel golden("marian-2-heads-toy");
  const Json* longest = &golden.golden["teacher_forced"][0];
  for (const Json& c : golden.golden["teacher_forced"]) {
    if (c["source_ids"].size() > (*longest)["source_ids"].size()) longest = &c;
  }
  const AttentionRecord record = record_of(golden, *longest);
  const Explanation first =
      explain_head(golden.model.transformer, record, {AttentionSite::cross, 0, 1, 0, 0});
  const Explanation second =
      explain_head(golden.model.transformer, record, {AttentionSite::cross, 0, 1, 1, 0});
  CHECK(step_of(first, "weights").lines != step_of(second, "weights").lines);
  CHECK(step_of(first, "weights").lines.size() == record.source.ids.size() + 1);
  CHECK(step_of(first, "weights").lines.back() == "sum of the row: 1.0000");
  CHECK(matrix_of(second, "scores", "raw").marked_row == 1);
  CHECK(step_of(first, "scores").lines[0].find(" = ") != std::string::npos);
}

TEST_CASE("the blackboard has the numbers of the chosen query, and their sums") {
  const GoldenModel golden("marian-2-heads-toy");
  const Json* longest = &golden.golden["teacher_forced"][0];
  for (const Json& c : golden.golden["teacher_forced"]) {
    if (c["source_ids"].size() > (*longest)["source_ids"].size()) longest = &c;
  }
  const AttentionRecord record = record_of(golden, *longest);
  for (const AttentionSite site :
       {AttentionSite::encoder_self, AttentionSite::decoder_self, AttentionSite::cross}) {
    const ExplainedHead choice{site, 0, 1, 1, 0};
    const Explanation whole = explain_head(golden.model.transformer, record, choice);
    const Explanation brief = explain_single_query(golden.model.transformer, record, choice);
    CHECK(brief.title == whole.title);
    CHECK(brief.facts == whole.facts);
    REQUIRE(brief.steps.size() == 1);
    const ExplanationStep& board = brief.steps[0];
    CHECK(board.id == "board");
    REQUIRE(board.lines.size() == 4);
    const Exact table = exact(board.matrices.at(0));
    const Exact raw = exact(whole, "scores", "raw"), masked = exact(whole, "masked", "masked");
    const Exact weights = exact(whole, "weights", "weights"), v = exact(whole, "head", "V");
    CHECK(table.rows() == raw.cols());
    for (Eigen::Index j = 0; j < table.rows(); ++j) {
      CHECK(table(j, 0) == raw(1, j));
      CHECK(table(j, 1) == masked(1, j));
      CHECK(table(j, 2) == doctest::Approx(std::exp(masked(1, j) - masked.row(1).maxCoeff())));
      CHECK(table(j, 3) == weights(1, j));
      CHECK(table(j, 4) == v(j, 0));
    }
  }
}

TEST_CASE("where no query is named, it is the word that looks most at one other word") {
  AttentionRecord record;
  record.source_text = "we went home";
  record.source.tokens = {"▁we", "▁went", "▁home", "</s>"};
  record.source.ids = {1, 2, 3, 0};
  record.encoder_self = {1,
                         1,
                         4,
                         4,
                         {.9F, .1F, 0, 0, .2F, .2F, .5F, .1F,  //
                          0, .3F, 0, .7F, 0, 0, 1, 0}};
  HypothesisRecord& found = record.hypotheses.emplace_back();
  found.text = "wir gingen";
  found.produced = {{"▁wir", "▁gingen", "</s>"}, {4, 5, 0}};
  found.decoder_input = {{"<pad>", "▁wir", "▁gingen"}, {6, 4, 5}};
  found.cross = {1, 1, 3, 4, {.6F, 0, 0, .4F, 0, .2F, .5F, .3F, 0, 0, 1, 0}};
  found.decoder_self = {1, 1, 3, 3, {1, 0, 0, .9F, .1F, 0, 0, 0, 1}};
  CHECK(most_informative_query(record, {AttentionSite::encoder_self, 0, 0, 0, 0}) ==
        1);                                                                        // not itself
  CHECK(most_informative_query(record, {AttentionSite::cross, 0, 0, 0, 0}) == 0);  // not </s>
  CHECK(most_informative_query(record, {AttentionSite::decoder_self, 0, 0, 0, 0}) ==
        1);  // not <pad>
  CHECK(most_informative_query(record, {AttentionSite::cross, 0, 0, 0, 1}) == 0);
  CHECK(most_informative_query(record, {AttentionSite::cross, 3, 0, 0, 0}) == 0);
}

TEST_CASE("an explanation of what is not there is refused with what is") {
  const GoldenModel golden("marian-2-heads-toy");
  const Transformer& model = golden.model.transformer;
  AttentionRecord record = record_of(golden, golden.golden["teacher_forced"].back());
  const auto refuse = [&](const ExplainedHead& choice, ExitCode code, const std::string& part) {
    check_error([&] { explain_head(model, record, choice); }, code, part);
  };
  const int layers = model.config().decoder_layers, heads = model.config().decoder_heads;
  refuse({AttentionSite::cross, layers, 0, 0, 0}, ExitCode::usage, "decoder has layers 0 to");
  refuse({AttentionSite::cross, 0, heads, 0, 0}, ExitCode::usage, "decoder has heads 0 to");
  refuse({AttentionSite::cross, 0, 0, 1000, 0}, ExitCode::usage, "there are queries 0 to");
  record.source.ids = {0};
  refuse({}, ExitCode::input, "nothing to explain");
}

}  // namespace attn::test
