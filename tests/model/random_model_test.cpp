// Tests random weights: the same bits everywhere, and as a model directory promises.
#include <doctest/doctest.h>

#include <map>

#include "base/random.h"
#include "model/transformer.h"

using namespace attn;

namespace {

ModelConfig toy() {
  ModelConfig c;
  c.d_model = 12;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 24;
  c.vocab_size = c.decoder_vocab_size = 20;
  c.max_positions = 16;
  c.pad_token_id = c.decoder_start_token_id = 19;
  return c;
}

/// Returns FNV-1a over all parameters in the visitor's order, row-major as in the file.
std::uint64_t checksum(const Transformer& model) {
  std::vector<float> all;
  const auto visit = [&](const ParameterInfo& info, const Parameter& parameter) {
    if (!info.tied_to.empty() || info.role == ParameterRole::positions) return;
    const Parameter p = info.transposed ? parameter.transposed() : parameter;
    for (Index i = 0; i < p.rows; ++i) {
      for (Index j = 0; j < p.columns; ++j) all.push_back(p.at(i, j));
    }
  };
  visit_parameters(model.config(), model.parameters(), visit);
  return fnv1a(all.data(), all.size() * sizeof(float));
}

}  // namespace

TEST_CASE("the toy's weights for seed 7 have the bits they always had") {
  const Transformer model = random_model(toy(), 7, Backend::panels);
  CHECK(checksum(model) == 2531868740395452548U);
  const Transformer other = random_model(toy(), 8, Backend::panels);
  CHECK(checksum(other) != checksum(model));
}

TEST_CASE("pad starts from zero and is never chosen; norms begin as the identity") {
  const Transformer model = random_model(toy(), 3, Backend::panels);
  const ModelParameters& p = model.parameters();
  for (Index j = 0; j < 12; ++j) CHECK(p.encoder.embedding.at(19, j) == 0.0F);
  CHECK(p.encoder.embedding.at(5, 3) != 0.0F);
  CHECK(p.logits_bias.at(0, 19) == -1e4F);
  CHECK(p.logits_bias.at(0, 0) == 0.0F);
  CHECK(p.encoder_layers[0].feed_forward_norm.weight.at(0, 4) == 1.0F);
  CHECK(p.encoder_layers[0].feed_forward_norm.bias.at(0, 4) == 0.0F);
  CHECK(p.output.data == p.encoder.embedding.data);  // tied: the same memory
}

TEST_CASE("heads change nothing in the weights") {
  ModelConfig six = toy();
  six.encoder_heads = six.decoder_heads = 6;
  const Transformer a = random_model(toy(), 1, Backend::panels);
  const Transformer b = random_model(six, 1, Backend::panels);
  CHECK(checksum(a) == checksum(b));
}
