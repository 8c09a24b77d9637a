// Tests that lib/paper translates on its own and agrees with PyTorch, and that the fast layers
// agree with lib/paper.
#include <doctest/doctest.h>

#include "base/at.h"
#include "golden_model.h"
#include "nn/embedding.h"
#include "paper_model.h"
#include "text/tokenizer.h"
#include "translate/recorder.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Returns the golden models that lib/paper supports: full attention, and only its activations.
std::vector<std::string> paper_golden_names() {
  std::vector<std::string> names = full_golden_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("bigbird-"); });
  return names;
}

/// The weights of every head, and the log-probabilities of the target.
struct PaperRun {
  /// [kind][layer][head] of [L, S]
  std::array<std::vector<std::vector<paper::Matrix>>, 3> maps;
  paper::Matrix log_probs;  ///< [L, V]

  PaperRun(const variants::Transformer& model, const std::vector<int>& source,
           const std::vector<int>& target) {
    const variants::TransformerCache cache = variants::run(model, source, target);
    for (const auto& layer : cache.encoder.layers)
      add(AttentionSite::encoder_self, layer.self.block);
    for (const auto& layer : cache.decoder.layers) {
      add(AttentionSite::decoder_self, layer.self.block);
      add(AttentionSite::cross, layer.cross.block);
    }
    log_probs = paper::log_softmax(cache.logits);
  }

  PaperRun(const paper::Transformer& model, const std::vector<int>& source,
           const std::vector<int>& target) {
    const auto encoder = paper::encode(model, source);
    const auto decoder = paper::decode(model, target, encoder.back().output());
    for (const auto& layer : encoder) add(AttentionSite::encoder_self, layer.self_attention);
    for (const auto& layer : decoder) {
      add(AttentionSite::decoder_self, layer.self_attention);
      add(AttentionSite::cross, layer.cross_attention);
    }
    log_probs = paper::log_softmax(model.output(decoder.back().output()));
  }

 private:
  void add(AttentionSite site, const paper::MultiHeadCache& layer) {
    auto& heads = at(maps, site).emplace_back();
    for (const paper::AttentionCache& head : layer.heads) heads.push_back(head.weights);
  }
};

/// Calls f(kind, layer, head, map) for every head, in order.
template <typename F>
void for_each_map(const PaperRun& run, F&& f) {
  for (const AttentionSite site : attention_sites) {
    const auto& layers = at(run.maps, site);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (std::size_t h = 0; h < layers[l].size(); ++h) f(site, l, h, layers[l][h]);
    }
  }
}

/// Returns the distance of float32 from float64 in a golden case, as measured in PyTorch.
double error_of(const Json& golden_case, const char* what) {
  return golden_case["error"][what].get<double>();
}

paper::Matrix matrix_of(const Json& rows) {
  paper::Matrix m(std::ssize(rows), std::ssize(rows.at(0)));
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = at(at(rows, i), j).get<double>();
  }
  return m;
}

constexpr const char* kKinds[] = {"encoder_self", "decoder_self", "cross"};

}  // namespace

TEST_CASE("the paper's Transformer alone translates the demo sentence with the shipped model") {
  const std::string directory = std::string(ATTN_SOURCE_DIR) + "/data/models/en-de";
  const Tokenizer tokenizer(directory);
  const LoadedModel loaded = load_model(directory, default_backend());
  const ModelConfig& config = loaded.transformer.config();
  const std::vector<int> source = tokenizer.encode_source("The group went home").ids;
  REQUIRE(is_classic(config));
  const paper::Transformer model = classic_model(variant_model(loaded.transformer));
  const std::vector<int> found =
      paper::translate(model, source, config.decoder_start_token_id, config.eos_token_id, 30);
  CHECK(found.back() == config.eos_token_id);
  CHECK(tokenizer.decode_target(found) == "Die Gruppe ging nach Hause");
}

namespace {

void check_against_pytorch(const PaperRun& run, const Json& c) {
  for_each_map(run, [&](AttentionSite site, std::size_t l, std::size_t h, const auto& map) {
    const paper::Matrix expected = matrix_of(at(c[at(kKinds, site)], l).at(h));
    CHECK((map - expected).cwiseAbs().maxCoeff() <= std::max(1e-5, 3 * error_of(c, "attention")));
  });
  const std::vector<int> targets = ids_of(c["target_ids"]);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const double found = run.log_probs(to_index(t), targets[t]);
    CHECK(std::abs(found - c["log_probs"].at(t).get<double>()) <=
          std::max(1e-4, 3 * error_of(c, "log_prob")));
  }
}

}  // namespace

TEST_CASE("the paper's Transformer, and its variants, compute what PyTorch computes") {
  std::size_t models = 0, classic = 0;
  for (const std::string& name : paper_golden_names()) {
    CAPTURE(name);
    ++models;
    const GoldenModel golden(name);
    const variants::Transformer model = variant_model(golden.model.transformer);
    for (const Json& c : golden.golden["teacher_forced"]) {
      const std::vector<int> source = ids_of(c["source_ids"]);
      const std::vector<int> target = ids_of(c["decoder_input_ids"]);
      const PaperRun run(model, source, target);
      check_against_pytorch(run, c);
      if (!is_classic(golden.model.transformer.config())) continue;
      ++classic;
      const PaperRun same(classic_model(model), source, target);
      check_against_pytorch(same, c);
      CHECK(same.maps == run.maps);
      CHECK(same.log_probs == run.log_probs);
    }
  }
  CHECK(models >= 18);
  CHECK(classic >= 5);
}

TEST_CASE("the fast Transformer computes what the paper's computes") {
  for (const std::string& name : paper_golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& fast = golden.model.transformer;
    for (const Json& c : golden.golden["teacher_forced"]) {
      const std::vector<int> source = ids_of(c["source_ids"]);
      const std::vector<int> target = ids_of(c["decoder_input_ids"]);
      const PaperRun exact(variant_model(fast), source, target);

      AttentionRecorder recorder;
      const EncodedSource encoded = fast.encode(pack({source}), &recorder);
      const Matrix rows = fast.decode(pack({target}), encoded, &recorder);
      Matrix logits(rows.rows(), fast.config().decoder_vocab_size);
      fast.logits(rows, logits);
      std::array<AttentionMaps, 3> maps;
      for (const AttentionSite site : attention_sites) at(maps, site) = recorder.take(site, 0);
      for_each_map(exact, [&](AttentionSite site, std::size_t l, std::size_t h, const auto& map) {
        const AttentionMaps& found = at(maps, site);
        REQUIRE(found.queries == map.rows());
        REQUIRE(found.keys == map.cols());
        for (Index i = 0; i < map.rows(); ++i) {
          for (Index j = 0; j < map.cols(); ++j) {
            const auto weight =
                static_cast<double>(found.at(to_int(l), to_int(h), to_int(i), to_int(j)));
            CHECK(std::abs(weight - map(i, j)) <= std::max(1e-5, 3 * error_of(c, "attention")));
          }
        }
      });
      const paper::Matrix log_probs = paper::log_softmax(logits.cast<double>());
      CHECK((log_probs - exact.log_probs).cwiseAbs().maxCoeff() <=
            std::max(1e-4, 3 * error_of(c, "log_prob")));
    }
  }
}

TEST_CASE("masks: who comes later, and who else is hidden") {
  const double off = -std::numeric_limits<double>::infinity();
  const paper::Matrix causal = paper::causal_mask(3, 3);
  CHECK(causal.row(0) == paper::Row{{0, off, off}});
  CHECK(causal.row(2) == paper::Row{{0, 0, 0}});
  CHECK(paper::causal_mask(1, 4) == paper::no_mask(1, 4));
  CHECK(paper::causal_mask(3, 1).col(0) == Eigen::Vector3d(off, off, 0));
  paper::Matrix both = causal;
  both.col(1).setConstant(off);
  const paper::Matrix weights = paper::softmax(both);
  CHECK(weights.row(2) == paper::Row{{0.5, 0, 0.5}});
  CHECK(paper::softmax(paper::Matrix::Constant(1, 2, off)).isZero(0.0));
}

TEST_CASE("sinusoids alternate as in the paper, or have Marian's layout, to the bit") {
  using enum paper::SinusoidLayout;
  for (const Index d : {6, 15}) {
    CHECK(paper::sinusoids(20, d, sines_first).cast<float>() == Matrix(sinusoids(20, d)));
  }
  const paper::Matrix table = paper::sinusoids(20, 5);
  for (Index p = 0; p < 20; ++p) {
    for (Index i = 0; i < 3; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 5.0);
      CHECK(table(p, 2 * i) == std::sin(angle));
      if (i < 2) CHECK(table(p, 2 * i + 1) == std::cos(angle));
    }
  }
}
