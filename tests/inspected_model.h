// A model whose shape and costs are known to the tests of counting and of its views.
#pragma once

#include "config/model_config.h"

namespace attn::test {

inline ModelConfig inspected_model() {
  ModelConfig config;
  config.d_model = 12;
  config.encoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn_dim = 48;
  config.decoder_ffn_dim = 24;
  config.vocab_size = config.decoder_vocab_size = 41;
  config.pad_token_id = config.decoder_start_token_id = 40;
  return config;
}

}  // namespace attn::test
