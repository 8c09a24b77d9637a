// Tests that lib/why agrees with PyTorch, and that receipts sum to logits in every family.
#include "why/why.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/at.h"
#include "check_error.h"
#include "golden_model.h"
#include "translate/recorder.h"
#include "translate/search/search.h"
#include "why/logit_rows.h"
#include "why/why_json.h"

namespace attn::test {
namespace {

constexpr double kRelative = 1e-5;

/// Collects the numbers of nested lists.
void collect(const Json& json, std::vector<double>& out) {
  if (json.is_array()) {
    for (const Json& each : json) collect(each, out);
  } else {
    out.push_back(json.get<double>());
  }
}

/// Requires the same keys and shapes, and numbers within `relative` of the largest one of each
/// list.
void check_same(const Json& found, const Json& expected, const std::string& where,
                double relative = kRelative) {
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      REQUIRE_MESSAGE(found.contains(key), where, ".", key);
      check_same(found[key], value, where + "." + key, relative);
    }
    return;
  }
  std::vector<double> a, b;
  collect(found, a);
  collect(expected, b);
  REQUIRE_MESSAGE(a.size() == b.size(), where);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  CHECK_MESSAGE(difference <= relative * std::max(largest, 0.01), where, ": ", difference, " of ",
                largest);
}

/// Traces a golden model's teacher-forced case.
Trace trace_case(Transformer& model, const Json& c) {
  if (c.contains("globals")) model.set_global_positions(c["globals"].get<std::vector<Index>>());
  return trace_translation(model, ids_of(c["source_ids"]), ids_of(c["decoder_input_ids"]),
                           ids_of(c["target_ids"]));
}

/// Requires that the items sum to the logit of the model's own output.
void check_sums(const Transformer& model, const Trace& trace, const std::string& name,
                double relative = kRelative) {
  const Receipt receipt = make_receipt(model, trace, {trace.written});
  for_logit_rows(model, trace.decoder.output, [&](Index first, const Matrix& logits) {
    for (Index r = 0; r < logits.rows(); ++r) {
      const Index t = first + r;
      const double logit = logits(r, at(trace.written, t));
      const double tolerance = relative * std::max(1.0, std::abs(logit));
      CHECK_MESSAGE(std::abs(receipt.total(t) - logit) < tolerance, name, " at step ", t);
      CHECK_MESSAGE(std::abs(receipt.logit(t) - logit) < tolerance, name, " at step ", t);
    }
  });
}

/// Requires α · values · W_O + b_O to be what each block added.
void check_values(const AttentionTrace& block, const Linear& projection, const std::string& name) {
  Matrix sum = Matrix::Zero(block.added.rows(), block.added.cols());
  for (std::size_t h = 0; h < block.values.size(); ++h) {
    const Matrix head = block.weights[h] * block.values[h];
    for (Index t = 0; t < sum.rows(); ++t) {
      for (Index j = 0; j < sum.cols(); ++j) {
        for (Index k = 0; k < head.cols(); ++k) {
          sum(t, j) += head(t, k) * projection.weight.at(to_index(h) * head.cols() + k, j);
        }
        if (h == 0 && projection.bias.exists()) sum(t, j) += projection.bias.at(0, j);
      }
    }
  }
  const float largest = std::max(block.added.cwiseAbs().maxCoeff(), 0.01F);
  CHECK_MESSAGE((sum - block.added).cwiseAbs().maxCoeff() < 2e-5F * largest, name);
}

void check_row_sums(const NdArray& rows, const std::string& name) {
  const std::size_t width = to_size(rows.shape.back());
  for (std::size_t first = 0; first < rows.values.size(); first += width) {
    const auto row = std::span(rows.values).subspan(first, width);
    CHECK_MESSAGE(
        std::accumulate(row.begin(), row.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-5), name);
  }
}

/// Returns a post-norm model with random weights.
ModelConfig small_config() {
  ModelConfig c;
  c.d_model = 12;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 20;
  c.vocab_size = c.decoder_vocab_size = 30;
  c.max_positions = 40;
  c.pad_token_id = c.decoder_start_token_id = 29;
  return c;
}

Trace small_trace(const Transformer& model) {
  const std::vector<int> source{5, 9, 3, 14, 7, 8, 21, 0}, written{4, 8, 15, 16, 0};
  const std::vector<int> input{29, 4, 8, 15, 16};
  return trace_translation(model, source, input, written);
}

}  // namespace

TEST_CASE("receipts and the falls without a token are PyTorch's, and so are contributions") {
  const std::string root = std::string(ATTN_SOURCE_DIR) + "/tests/golden/why";
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    ++seen;
    const std::string name = entry.path().stem().string();
    GoldenModel golden(name);
    Json expected = read_json_file(entry.path().string());
    Transformer& model = golden.model.transformer;
    const Trace trace = trace_case(model, expected);
    const bool maps = expected.contains("contributions");
    const WhyRequest request{.trace = trace,
                             .methods = {.receipt = true, .occlusion = true, .contributions = maps},
                             .unk = expected["unk"].get<int>()};
    const Json found = Json::parse(why_json(explain_words(model, request)));
    CHECK_MESSAGE(found["foil"]["ids"] == expected["foil_ids"], name);
    for (const char* key : {"receipt", "occlusion"}) check_same(found[key], expected[key], name);
    if (!maps) continue;
    // ALTI subtracts norms that are nearly the same, so PyTorch's own float32 may be further away.
    const double error = expected["contributions_error"].get<double>();
    check_same(found, expected["contributions"], name, std::max(kRelative, 3 * error));
  }
  CHECK(seen >= 15);
}

TEST_CASE("receipts of every golden model sum to their logits") {
  for (const std::string& name : golden_names()) {
    GoldenModel golden(name);
    Transformer& model = golden.model.transformer;
    for (const Json& c : golden.golden["teacher_forced"]) {
      check_sums(model, trace_case(model, c), name);
    }
  }
}

TEST_CASE("receipts of rounded products sum to their logits within the rounding") {
  for (const Backend backend : {Backend::int8, Backend::bfloat16}) {
    const Transformer model = random_model(small_config(), 1, backend);
    check_sums(model, small_trace(model), "rounded", 0.05);
  }
}

TEST_CASE("traces hold the weights and values of which blocks are the sums") {
  for (const std::string& name : golden_names()) {
    GoldenModel golden(name);
    Transformer& model = golden.model.transformer;
    const Trace trace = trace_case(model, golden.golden["teacher_forced"].back());
    const ModelParameters& p = model.parameters();
    for (std::size_t l = 0; l < p.encoder_layers.size(); ++l) {
      const AttentionTrace& self = trace.encoder.layers[l].self;
      if (self.values_are_of_tokens) {
        check_values(self, p.encoder_layers[l].self_attention.output, name + " encoder");
      }
    }
    for (std::size_t l = 0; l < p.decoder_layers.size(); ++l) {
      check_values(trace.decoder.layers[l].self, p.decoder_layers[l].self_attention.output, name);
      check_values(trace.decoder.layers[l].cross, p.decoder_layers[l].cross_attention.output, name);
    }
  }
}

TEST_CASE("sparse patterns and approximations: exact or refused by name") {
  using enum PatternType;
  for (const PatternType type : {window, performer, lsh, linformer}) {
    ModelConfig c = small_config();
    AttentionPattern& pattern = c.encoder_attention;
    pattern.type = type;
    pattern.windows = {4};
    pattern.rank = 6;
    pattern.rounds = 2;
    pattern.buckets = 2;
    pattern.block_size = 4;
    pattern.features = 8;
    if (type == window || type == performer) c.decoder_attention = pattern;
    const std::string name(pattern_name(type));
    const Transformer model = random_model(c, 3, Backend::panels);
    const Trace trace = small_trace(model);
    check_sums(model, trace, name);
    if (type == linformer) {
      check_error([&] { make_contributions(model, trace); }, ExitCode::input,
                  "contributions: linformer's encoder attends to mixtures of tokens");
      continue;
    }
    for (std::size_t l = 0; l < 2; ++l) {
      check_values(trace.encoder.layers[l].self,
                   model.parameters().encoder_layers[l].self_attention.output, name);
    }
    check_row_sums(make_contributions(model, trace).alti_plus_total, name);
  }
}

TEST_CASE("rows of ALTI and ALTI+ sum to 1; models with keys that are no tokens are refused") {
  for (const std::string& name : golden_names()) {
    GoldenModel golden(name);
    Transformer& model = golden.model.transformer;
    const Trace trace = trace_case(model, golden.golden["teacher_forced"].back());
    if (!contributions_obstacle(model, trace).empty()) {
      CHECK_MESSAGE((name.starts_with("led-") || name.starts_with("pegasus-x-")), name);
      check_error([&] { make_contributions(model, trace); }, ExitCode::input, "global tokens");
      continue;
    }
    const Contributions c = make_contributions(model, trace);
    for (const NdArray* rows : {&c.encoder_self.alti, &c.decoder_self.alti, &c.cross.alti,
                                &c.alti_plus_layers, &c.alti_plus_total}) {
      check_row_sums(*rows, name);
    }
  }
}

TEST_CASE("the last state of each lens is the model itself") {
  for (const std::string name : {"marian-6-heads-gelu", "pegasus-6-heads-swish", "t5-wide-heads"}) {
    GoldenModel golden(name);
    Transformer& model = golden.model.transformer;
    const Trace trace = trace_case(model, golden.golden["teacher_forced"].back());
    Matrix logits(std::ssize(trace.written), model.config().decoder_vocab_size);
    model.logits(trace.decoder.output, logits);
    const Alternatives expected = likeliest_tokens(logits, trace.written, 5);
    const LogitLens lens = logit_lens(model, trace);
    REQUIRE(lens.states.size() == trace.decoder.layers.size() + 1);
    CHECK(lens.states.back().ids == expected.ids);
    CHECK(lens.states.back().ranks == expected.ranks);

    DecodeConfig decode;
    decode.num_beams = 4;
    decode.max_new_tokens = 9;
    const DecoderLens states = decoder_lens(model, trace, decode);
    decode.num_beams = 1;
    CHECK(states.ids.back() ==
          search(model, one_sentence(trace.source), decode).front().front().ids);
    const std::vector<float> written =
        written_log_probs(model, trace.decoder.output, trace.written);
    for (std::size_t t = 0; t < written.size(); ++t) {
      CHECK(states.log_probs(states.ids.size() - 1, t) == doctest::Approx(written[t]));
    }
  }
}

TEST_CASE("foils and methods that do not exist are refused") {
  const Transformer model = random_model(small_config(), 3, Backend::panels);
  const Trace trace = small_trace(model);
  const auto with_foil = [&](int foil) {
    WhyRequest request{.trace = trace, .methods = {.receipt = true}};
    request.foils = {-1, foil, -1, -1, -1};
    return explain_words(model, request);
  };
  CHECK(with_foil(9).foil.ids[1] == 9);
  check_error([&] { with_foil(30); }, ExitCode::input,
              "foil 30 at step 1: the vocabulary has tokens 0 to 29");
  check_error([&] { with_foil(8); }, ExitCode::input, "foil 8 at step 1 is the written token");
  CHECK(parse_why_methods("all").lens);
  CHECK_FALSE(parse_why_methods("receipt,occlusion").lens);
  check_error([] { parse_why_methods("receipt,saliency"); }, ExitCode::usage,
              "saliency: no such method; use all, receipt");
  check_error([] { parse_why_methods("receipt,"); }, ExitCode::usage, "no such method");
}

TEST_CASE("a contrast is the difference of two receipts") {
  const Transformer model = random_model(small_config(), 5, Backend::panels);
  const Trace trace = small_trace(model);
  const std::vector<int> foils{1, 2, 3, 4, 5};
  const Receipt word = make_receipt(model, trace, {trace.written});
  const Receipt foil = make_receipt(model, trace, {foils});
  const Receipt contrast = make_receipt(model, trace, {trace.written, foils});
  for (std::size_t i = 0; i < word.cross.values.size(); ++i) {
    CHECK(std::abs(contrast.cross.values[i] - (word.cross.values[i] - foil.cross.values[i])) <
          1e-5F);
  }
}

}  // namespace attn::test
