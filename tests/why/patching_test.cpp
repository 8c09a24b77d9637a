#include "why/patching.h"

#include <doctest/doctest.h>

#include <functional>

#include "attribution_golden.h"

using namespace attn;
using namespace attn::test;

namespace {

PatchingRequest request_of(const Json& item) {
  const Json& patching = item.at("patching");
  return {ids_of(item.at("source")),        ids_of(item.at("corrupt")),
          ids_of(item.at("decoder_input")), patching.at("step").get<Index>(),
          patching.at("word").get<int>(),   patching.at("foil").get<int>()};
}

/// Calls a function at every stage of both stacks.
class StageFunction : public AttentionObserver {
 public:
  explicit StageFunction(std::function<void(const StageView&)> function)
      : function_(std::move(function)) {}
  bool watches(AttentionSite, Index, Index) const override { return false; }
  void weights_ready(AttentionHead&) override {}
  void stage_ready(const StageView& view) override { function_(view); }

 private:
  std::function<void(const StageView&)> function_;
};

/// Returns logit(word) − logit(foil) of one run over a whole sentence.
double difference(const Transformer& model, const PatchingRequest& request,
                  const std::vector<int>& source, AttentionObserver* observer) {
  const EncodedSource encoded = model.encode(pack({source}), observer);
  const Matrix hidden = model.decode(pack({request.decoder_input}), encoded, observer);
  Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
  model.logits(hidden, logits);
  return double{logits(request.step, request.word)} - double{logits(request.step, request.foil)};
}

/// The place of an activation in the model: after `layers` layers, or in a layer's heads.
struct Place {
  AttentionSite site;
  Stage stage;
  Index layer;
  bool operator==(const Place&) const = default;
};

Place state(AttentionSite site, Index after) {
  if (after == 0) return {site, Stage::embedded, 0};
  return {site, Stage::layer_output, after - 1};
}

/// Returns the restored share when a run over the corrupted source gets one block of the clean
/// run's activations.
double literal_share(const Transformer& model, const PatchingRequest& request, const Place& place,
                     const std::function<void(const Matrix& clean, MatrixRef corrupt)>& replace) {
  Matrix clean;
  StageFunction keep([&](const StageView& view) {
    if (Place{view.site, view.stage, view.layer} == place) clean = view.rows;
  });
  StageFunction write([&](const StageView& view) {
    if (Place{view.site, view.stage, view.layer} == place) replace(clean, *view.writable);
  });
  const double best = difference(model, request, request.clean, &keep);
  const double worst = difference(model, request, request.corrupt, nullptr);
  return (difference(model, request, request.corrupt, &write) - worst) / (best - worst);
}

PatchingRequest toy_request() {
  return {{5, 9, 7, 12, 0}, {5, 30, 7, 8, 0}, {39, 11, 4, 20}, 3, 17, 8};
}

LoadedModel patching_toy() {
  return load_model(golden_root() + "/marian-2-heads-toy", Backend::panels);
}

}  // namespace

TEST_CASE("recovered shares are those of hooks on transformers' classes") {
  for (const Json& item : attribution_cases()) {
    CAPTURE(item.at("model").get<std::string>());
    const LoadedModel loaded = model_of(item);
    const PatchingGrids found = patch_activations(loaded.transformer, request_of(item));
    const Json& expected = item.at("patching");
    CHECK(relative_difference(found.encoder, expected.at("encoder")) < 1e-5);
    CHECK(relative_difference(found.decoder, expected.at("decoder")) < 1e-5);
    CHECK(relative_difference(found.cross, expected.at("cross")) < 1e-5);
    CHECK(found.clean_logit_diff == doctest::Approx(expected.at("clean_logit_diff")).epsilon(1e-5));
    CHECK(found.corrupt_logit_diff ==
          doctest::Approx(expected.at("corrupt_logit_diff")).epsilon(1e-5));
  }
}

TEST_CASE("a grid's entries are literal replacements in a run of their own") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const LoadedModel loaded = load_model(golden_root() + "/" + name, Backend::panels);
    const ModelConfig& config = loaded.transformer.config();
    const int eos = config.eos_token_id;
    PatchingRequest request{{5, 9, 7, 12, eos},
                            {5, 20, 7, 8, eos},
                            {config.decoder_start_token_id, 11, 4, 20},
                            3,
                            17,
                            8};
    const PatchingGrids found = patch_activations(loaded.transformer, request);
    const double scale = static_cast<double>(found.encoder.cwiseAbs().maxCoeff());
    const auto same = [&](float share, double literal) {
      CHECK(std::abs(double{share} - literal) < 2e-5 * std::max(1.0, scale));
    };
    for (const Index position : {1, 3}) {
      for (Index l = 0; l <= config.encoder_layers; ++l) {
        same(found.encoder(l, position),
             literal_share(
                 loaded.transformer, request, state(AttentionSite::encoder_self, l),
                 [&](const Matrix& clean, MatrixRef x) { x.row(position) = clean.row(position); }));
      }
      for (Index l = 0; l <= config.decoder_layers; ++l) {
        same(found.decoder(l, position),
             literal_share(
                 loaded.transformer, request, state(AttentionSite::decoder_self, l),
                 [&](const Matrix& clean, MatrixRef x) { x.row(position) = clean.row(position); }));
      }
    }
    const Index width = config.decoder_head_dim();
    for (Index l = 0; l < config.decoder_layers; ++l) {
      for (Index h = 0; h < config.decoder_heads; ++h) {
        same(found.cross(l, h),
             literal_share(loaded.transformer, request, {AttentionSite::cross, Stage::heads, l},
                           [&](const Matrix& clean, MatrixRef x) {
                             x.middleCols(h * width, width) = clean.middleCols(h * width, width);
                           }));
      }
    }
  }
}

TEST_CASE("the whole last decoder state at the step brings everything back, at others nothing") {
  const LoadedModel loaded = patching_toy();
  const PatchingGrids found = patch_activations(loaded.transformer, toy_request());
  CHECK(found.decoder(2, 3) == doctest::Approx(1));
  CHECK(found.decoder.row(2).head(3).isZero(1e-6F));
  CHECK(found.decoder.row(0).isZero(0));  // the same tokens
  CHECK(found.encoder(0, 0) == 0);
  CHECK(found.encoder(0, 1) != 0);
}

TEST_CASE("an alignment pairs positions of sources of different lengths") {
  const LoadedModel loaded = patching_toy();
  PatchingRequest request = toy_request();
  request.corrupt = {5, 30, 14, 7, 8, 0};
  check_input_error([&] { patch_activations(loaded.transformer, request); },
                    "the corrupted source has 6 tokens and the clean one 5; swap words for "
                    "others of as many tokens");
  request.alignment = {{0, 0}, {1, 1}, {2, 3}, {3, 4}, {4, 5}};
  const PatchingGrids found = patch_activations(loaded.transformer, request);
  CHECK(found.encoder.cols() == 5);
  const double literal =
      literal_share(loaded.transformer, request, state(AttentionSite::encoder_self, 1),
                    [](const Matrix& clean, MatrixRef x) { x.row(3) = clean.row(2); });
  CHECK(found.encoder(1, 2) == doctest::Approx(literal).epsilon(1e-4));
  request.alignment = {{4, 6}};
  check_input_error([&] { patch_activations(loaded.transformer, request); },
                    "the alignment has the pair 4-6; expected positions 0 to 4 of the clean source "
                    "and 0 to 5 of the corrupted one");
}

TEST_CASE("tokens behind the step change nothing") {
  const LoadedModel loaded = patching_toy();
  PatchingRequest request = toy_request();
  request.step = 2;
  const PatchingGrids longer = patch_activations(loaded.transformer, request);
  request.decoder_input.pop_back();
  const PatchingGrids shorter = patch_activations(loaded.transformer, request);
  CHECK(longer.decoder.cols() == 3);
  CHECK(longer.encoder == shorter.encoder);
  CHECK(longer.cross == shorter.cross);
}

TEST_CASE("bad requests for patching say what is wrong") {
  const LoadedModel loaded = patching_toy();
  const auto refused = [&](auto&& change, const char* message) {
    PatchingRequest request = toy_request();
    change(request);
    check_input_error([&] { patch_activations(loaded.transformer, request); }, message);
  };
  refused([](PatchingRequest& r) { r.step = 4; },
          "step 4 is asked for; the target has steps 0 to 3");
  refused([](PatchingRequest& r) { r.word = 40; }, "the id 40 is compared; expected 0 to 39");
  refused([](PatchingRequest& r) { r.foil = r.word; },
          "the clean and the corrupted word are the same (id 17); choose two words");
  refused([](PatchingRequest& r) { r.corrupt = r.clean; },
          "both sources give the same logit difference");
  refused([](PatchingRequest& r) { r.clean.clear(); },
          "source sentence 0 has 0 tokens; the model takes 1 to 32");
  refused([](PatchingRequest& r) { r.clean[1] = 40; },
          "source token id 40 is outside the model's vocabulary of 40");
  refused([](PatchingRequest& r) { r.decoder_input.clear(); },
          "target sentence 0 has 0 tokens; the model takes 1 to 32");
}
