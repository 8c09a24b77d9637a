#include "train/validation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "check_error.h"
#include "model/training/trainable_model.h"
#include "model/training/training_pass.h"
#include "train/optimizer.h"
#include "train/small_corpus.h"

namespace attn::test {
namespace {

/// Returns the smallest model with this vocabulary.
ModelConfig smallest(const Tokenizer& tokenizer) {
  ModelConfig config;
  config.vocab_size = config.decoder_vocab_size = tokenizer.source_vocab_size();
  config.d_model = config.encoder_ffn_dim = config.decoder_ffn_dim = 8;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.max_positions = 64;
  config.pad_token_id = config.decoder_start_token_id = tokenizer.special_tokens().pad;
  config.eos_token_id = tokenizer.special_tokens().eos;
  return config;
}

}  // namespace

TEST_CASE("the loss of a corpus is what training counts on it: smoothed, and padding no class") {
  const Tokenizer tokenizer(std::string(ATTN_SOURCE_DIR) + "/data/demo/tokenizer");
  const ModelConfig config = smallest(tokenizer);
  TrainableModel trained(config, 1);
  const Corpus corpus = mixed_corpus(9);
  TrainingBatch batch;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    batch.add(corpus.source[i], corpus.target[i], config.decoder_start_token_id);
  }
  TrainingPass pass(trained, default_backend());
  pass.prepare();
  const Transformer model = trained.transformer(trained.shared_weights(), default_backend());
  for (const float smoothing : {0.0F, 0.1F}) {
    const LossSum expected = pass.loss(batch, smoothing);
    const LossSum found = corpus_loss(model, corpus, smoothing);
    CHECK(found.tokens == expected.tokens);
    CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
    CHECK(found.nll == doctest::Approx(expected.nll).epsilon(1e-5));
    CHECK((found.loss != found.nll) == (smoothing > 0));
  }
}

TEST_CASE("Adam tells when a weight is no longer finite") {
  Adam adam(3, {});
  std::vector<float> weights{1, 2, 3};
  std::vector<float> gradients{0.5F, -0.5F, 0};
  CHECK(adam.update(weights, gradients, Adam::norm(gradients), 0.1));
  gradients[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(!adam.update(weights, gradients, Adam::norm(gradients), 0.1));
}

TEST_CASE("a loss that is not finite is no validation") {
  const Tokenizer tokenizer(std::string(ATTN_SOURCE_DIR) + "/data/demo/tokenizer");
  const ModelConfig config = smallest(tokenizer);
  const Validator validator({{"The group went home"}, {"Die Gruppe ging nach Hause"}}, tokenizer,
                            {{}, {}, 64, 0.1F});
  const std::atomic<int> stop = 0;
  TrainableModel trained(config, 1);
  const auto validate = [&] {
    Transformer model = trained.transformer(trained.shared_weights(), default_backend());
    model.set_name("the model after update 7");
    return validator.run(model, stop);
  };
  CHECK(validate()->loss.tokens > 0);
  std::ranges::fill(trained.weights(), 3e38F);
  check_error(validate, ExitCode::input,
              "the model after update 7: the loss on data.dev is not finite; training stops");
}

}  // namespace attn::test
