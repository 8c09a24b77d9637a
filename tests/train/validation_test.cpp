#include "train/validation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "check_error.h"
#include "model/trainable_model.h"

namespace attn::test {

TEST_CASE("a loss that is not finite is no validation") {
  const Tokenizer tokenizer(std::string(ATTN_SOURCE_DIR) + "/data/demo/tokenizer");
  ModelConfig config;
  config.vocab_size = config.decoder_vocab_size = tokenizer.source_vocab_size();
  config.d_model = config.encoder_ffn_dim = config.decoder_ffn_dim = 8;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.max_positions = 64;
  config.pad_token_id = config.decoder_start_token_id = tokenizer.special_tokens().pad;
  config.eos_token_id = tokenizer.special_tokens().eos;
  const Validator validator({{"The group went home"}, {"Die Gruppe ging nach Hause"}}, tokenizer,
                            {}, 64, 0.1F);
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
