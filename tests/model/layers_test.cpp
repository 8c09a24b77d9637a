// Tests that the forward pass gives the same bits on whole sentences, in single steps with cached
// keys and values, and in training.
#include "model/layers.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/at.h"
#include "model/incremental_decoder.h"
#include "small_training.h"

using namespace attn;
using namespace attn::test;

namespace {

// Rows have at most 64 numbers: training sums longer rows in longer chains (compute/matmul.h).
const std::initializer_list<ModelConfig (*)()> kLayerConfigs{small_config, small_pre_norm_config,
                                                             small_untied_config};

struct LayersUnderTest {
  TrainableModel trainable;
  TrainingBatch batch;
  Transformer model;

  explicit LayersUnderTest(const ModelConfig& config)
      : trainable(config, 5),
        batch(random_batch(config, 4, 3, 9, "batch")),
        model(made(trainable)) {}

  static Transformer made(TrainableModel& trainable) {
    randomise(trainable);
    return trainable.transformer(trainable.shared_weights(), Backend::panels);
  }

  Matrix whole() const {
    const Matrix hidden = model.decode(batch.decoder_input, model.encode(batch.source));
    Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
    model.logits(hidden, logits);
    return logits;
  }
};

/// Records the stages of a pass.
struct StageList : AttentionObserver {
  std::vector<std::pair<AttentionSite, Stage>> seen;
  void weights_ready(AttentionHead&) override {}
  void stage_ready(const StageView& view) override {
    CHECK(view.layer == 0);
    CHECK(view.rows.allFinite());
    seen.emplace_back(view.site, view.stage);
  }
};

}  // namespace

TEST_CASE("cached steps have the bits of whole sentences") {
  std::vector<NamedConfig> configs = small_own_configs();
  for (const auto config : kLayerConfigs) configs.push_back({"usual", config()});
  configs.push_back({"t5", small_t5_config()});
  for (const NamedConfig& each : configs) {
    const ModelConfig& config = each.config;
    CAPTURE(each.name);
    const LayersUnderTest s(config);
    const Matrix whole = s.whole();
    const EncodedSource source = s.model.encode(s.batch.source);
    const PackedTokens& target = s.batch.decoder_input;
    Index longest = 0;
    for (Index b = 0; b < target.sentences(); ++b) longest = std::max(longest, target.length(b));
    IncrementalDecoder decoder(s.model);
    std::vector<SlotSize> sizes;
    for (Index b = 0; b < target.sentences(); ++b) sizes.push_back({1, target.length(b)});
    decoder.add_sentences(source, sizes);
    std::vector<Index> alive;  // the sentence of each row in the previous step
    for (Index step = 0; step < longest; ++step) {
      std::vector<int> tokens;
      std::vector<Index> parents;
      std::vector<Index> sentences;
      for (Index b = 0; b < target.sentences(); ++b) {
        if (target.length(b) <= step) continue;
        const Index first = at(target.offsets, b);
        tokens.push_back(at(target.ids, first + step));
        parents.push_back(std::ranges::find(alive, b) - alive.begin());
        sentences.push_back(b);
      }
      const Matrix logits = decoder.step(tokens, parents, sentences);
      for (std::size_t r = 0; r < sentences.size(); ++r) {
        const Index t = at(target.offsets, sentences[r]) + step;
        CHECK(std::memcmp(logits.row(to_index(r)).data(), whole.row(t).data(),
                          to_size(logits.cols()) * sizeof(float)) == 0);
      }
      alive = sentences;
    }
  }
}

TEST_CASE("training's loss is that of the translating model's logits, to the bit") {
  std::vector<ModelConfig> configs;
  for (const auto config : kLayerConfigs) configs.push_back(config());
  for (const char* type : {"bart", "led", "bigbird_pegasus", "pegasus_x"}) {
    configs.push_back(small_family_config(type));
  }
  for (const char* type : {"t5", "mt5", "umt5"}) configs.push_back(small_t5_config(type));
  for (const NamedConfig& own : small_own_configs()) configs.push_back(own.config);
  for (const ModelConfig& config : configs) {
    CAPTURE(config.model_type);
    LayersUnderTest s(config);
    TrainingPass pass(s.trainable, Backend::panels);
    Matrix logits = s.whole().leftCols(s.model.config().decoder_vocab_size - 1);  // no padding
    const LossSum expected = cross_entropy(logits, s.batch.targets, 0.1F, 1.0F);
    const LossSum found = pass.loss(s.batch, 0.1F);
    CHECK(found.loss == expected.loss);
    CHECK(found.nll == expected.nll);
  }
}

TEST_CASE("an observer sees a layer in the paper's order") {
  const auto self = AttentionSite::decoder_self;
  const auto cross = AttentionSite::cross;
  for (const bool before : {false, true}) {
    ModelConfig c = before ? small_pre_norm_config() : small_config();
    c.encoder_layers = c.decoder_layers = 1;
    const LayersUnderTest s(c);
    std::vector<std::pair<AttentionSite, Stage>> expected{{self, Stage::embedded},
                                                          {self, Stage::block_input}};
    if (before) expected.emplace_back(self, Stage::normed_input);
    for (const Stage stage : {Stage::projected, Stage::heads, Stage::attn_output, Stage::block_sum,
                              Stage::block_output}) {
      expected.emplace_back(self, stage);
    }
    expected.emplace_back(cross, Stage::block_input);
    if (before) expected.emplace_back(cross, Stage::normed_input);
    for (const Stage stage : {Stage::projected, Stage::memory, Stage::heads, Stage::attn_output,
                              Stage::block_sum, Stage::block_output}) {
      expected.emplace_back(cross, stage);
    }
    if (before) expected.emplace_back(self, Stage::feed_forward_normed);
    for (const Stage stage : {Stage::feed_forward_hidden, Stage::feed_forward_output,
                              Stage::feed_forward_sum, Stage::layer_output}) {
      expected.emplace_back(self, stage);
    }
    expected.emplace_back(self, Stage::stack_output);

    StageList stages;
    const EncodedSource source = s.model.encode(s.batch.source);
    s.model.decode(s.batch.decoder_input, source, &stages);
    CHECK(stages.seen == expected);

    StageList steps;  // a cached step has the same stages
    IncrementalDecoder decoder(s.model, &steps);
    decoder.add_sentences(source, std::vector<SlotSize>(to_size(s.batch.source.sentences())));
    decoder.step(std::vector<int>{c.decoder_start_token_id}, std::vector<Index>{0},
                 std::vector<Index>{0});
    CHECK(steps.seen == expected);
  }
}
