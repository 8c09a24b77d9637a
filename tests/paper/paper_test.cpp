// lib/paper translates by itself, agrees with PyTorch, and the fast layers agree with it.
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

/// The golden models of what lib/paper states: full attention, and activations that it has.
std::vector<std::string> paper_golden_names() {
  std::vector<std::string> names = full_golden_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("bigbird-"); });
  return names;
}

template <typename T>
struct PaperRun {
  paper::AllMaps<T> maps;
  paper::Matrix<T> log_probs;  ///< [L, V]

  PaperRun(const paper::Transformer<T>& model, const std::vector<int>& source,
           const std::vector<int>& target) {
    const paper::Matrix<T> memory = paper::encode<T>(model, source, &maps);
    const paper::Matrix<T> rows = paper::decode<T>(model, target, memory, &maps);
    log_probs = paper::log_softmax<T>(paper::logits(model, rows));
  }

  const paper::Matrix<T>& map(AttentionSite site, std::size_t layer, std::size_t head) const {
    const auto& stack = site == AttentionSite::encoder_self ? maps.encoder : maps.decoder;
    const paper::LayerMaps<T>& heads = stack.at(layer);
    return site == AttentionSite::cross ? heads.cross.at(head) : heads.self.at(head);
  }
  std::size_t layers(AttentionSite site) const {
    return site == AttentionSite::encoder_self ? maps.encoder.size() : maps.decoder.size();
  }
  std::size_t heads(AttentionSite site) const {
    if (site == AttentionSite::encoder_self) return maps.encoder.at(0).self.size();
    return maps.decoder.at(0).self.size();
  }
};

/// Calls f(map) for every head of every kind, in order.
template <typename T, typename F>
void for_each_map(const PaperRun<T>& run, F&& f) {
  for (const AttentionSite site : attention_sites) {
    for (std::size_t l = 0; l < run.layers(site); ++l) {
      for (std::size_t h = 0; h < run.heads(site); ++h) f(site, l, h, run.map(site, l, h));
    }
  }
}

/// e: how far float32 is from float64 by itself.
struct FloatError {
  double maps = 0;
  double log_probs = 0;

  FloatError(const PaperRun<float>& in_float, const PaperRun<double>& exact) {
    for_each_map(exact, [&](AttentionSite site, std::size_t l, std::size_t h, const auto& map) {
      maps = std::max(
          maps, (in_float.map(site, l, h).template cast<double>() - map).cwiseAbs().maxCoeff());
    });
    log_probs = (in_float.log_probs.cast<double>() - exact.log_probs).cwiseAbs().maxCoeff();
  }
};

paper::Matrix<double> matrix_of(const Json& rows) {
  paper::Matrix<double> m(std::ssize(rows), std::ssize(rows.at(0)));
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
  const auto model = paper_model<float>(loaded.transformer);
  const std::vector<int> found = paper::translate<float>(
      model, source, config.decoder_start_token_id, config.eos_token_id, 30);
  CHECK(found.back() == config.eos_token_id);
  CHECK(tokenizer.decode_target(found) == "Die Gruppe ging nach Hause");
}

TEST_CASE("the paper's Transformer computes what PyTorch computes") {
  std::size_t models = 0;
  for (const std::string& name : paper_golden_names()) {
    CAPTURE(name);
    ++models;
    const GoldenModel golden(name);
    const auto model = paper_model<double>(golden.model.transformer);
    for (const Json& c : golden.golden["teacher_forced"]) {
      const PaperRun<double> run(model, ids_of(c["source_ids"]), ids_of(c["decoder_input_ids"]));
      const double e = c["error"]["attention"].get<double>();
      for_each_map(run, [&](AttentionSite site, std::size_t l, std::size_t h, const auto& map) {
        const paper::Matrix<double> expected = matrix_of(at(c[at(kKinds, site)], l).at(h));
        CHECK((map - expected).cwiseAbs().maxCoeff() <= std::max(1e-5, 3 * e));
      });
      const std::vector<int> targets = ids_of(c["target_ids"]);
      for (std::size_t t = 0; t < targets.size(); ++t) {
        const double found = run.log_probs(to_index(t), targets[t]);
        CHECK(std::abs(found - c["log_probs"].at(t).get<double>()) <=
              std::max(1e-4, 3 * c["error"]["log_prob"].get<double>()));
      }
    }
  }
  CHECK(models >= 18);
}

TEST_CASE("the fast Transformer computes what the paper's computes in double") {
  for (const std::string& name : paper_golden_names()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    const Transformer& fast = golden.model.transformer;
    for (const Json& c : golden.golden["teacher_forced"]) {
      const std::vector<int> source = ids_of(c["source_ids"]);
      const std::vector<int> target = ids_of(c["decoder_input_ids"]);
      const PaperRun<double> exact(paper_model<double>(fast), source, target);
      const FloatError e(PaperRun<float>(paper_model<float>(fast), source, target), exact);

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
            CHECK(std::abs(weight - map(i, j)) <= std::max(1e-5, 3 * e.maps));
          }
        }
      });
      const paper::Matrix<double> log_probs = paper::log_softmax<double>(logits.cast<double>());
      CHECK((log_probs - exact.log_probs).cwiseAbs().maxCoeff() <= std::max(1e-4, 3 * e.log_probs));
    }
  }
}

TEST_CASE("masks: who comes later, and who else is hidden") {
  const double off = -std::numeric_limits<double>::infinity();
  const paper::Matrix<double> causal = paper::causal_mask<double>(3, 3);
  CHECK(causal.row(0) == paper::Row<double>{{0, off, off}});
  CHECK(causal.row(2) == paper::Row<double>{{0, 0, 0}});
  CHECK(paper::causal_mask<double>(1, 4) == paper::no_mask<double>(1, 4));
  CHECK(paper::causal_mask<double>(3, 1).col(0) == Eigen::Vector3d(off, off, 0));
  paper::Matrix<double> both = causal;
  both.col(1).setConstant(off);
  const paper::Matrix<double> weights = paper::softmax<double>(both);
  CHECK(weights.row(2) == paper::Row<double>{{0.5, 0, 0.5}});
  CHECK(paper::softmax<double>(paper::Matrix<double>::Constant(1, 2, off)).isZero(0.0));
}

TEST_CASE("sinusoids are the model's own, to the bit") {
  for (const Index d : {6, 15}) {
    CHECK(paper::sinusoids<float>(20, d) == Matrix(sinusoids(20, d)));
  }
}
