// Models whose attention follows patterns: whole sentences and cached steps are one model.
#include <doctest/doctest.h>

#include <numeric>

#include "base/at.h"
#include "model/incremental_decoder.h"
#include "model/random_model.h"
#include "small_training.h"

using namespace attn;
using attn::test::small_pre_norm_config;

namespace {

ModelConfig pattern_config(PatternType type, int size) {
  ModelConfig c = small_pre_norm_config();
  c.max_positions = 200;
  AttentionPattern& p = c.decoder_attention;
  p.type = type;
  p.windows = {size, size / 2 + size / 2 % 2};
  p.stride = size;
  p.summary = 2;
  return c;
}

/// Logits of every step of one hypothesis, whose rows lie among others' in the cache.
Matrix stepwise(const Transformer& model, const EncodedSource& source,
                const std::vector<int>& tokens) {
  IncrementalDecoder decoder(model, source, 3, std::ssize(tokens));
  Matrix logits(std::ssize(tokens), model.config().decoder_vocab_size);
  Index own = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    // The hypothesis moves to another row at each step; the other rows are its own forks.
    const std::vector<Index> parents(3, own);
    own = to_index((t * 2 + 1) % 3);
    std::vector<int> step(3, 5);
    at(step, own) = tokens[t];
    const std::vector<Index> sentences(3, 0);
    logits.row(to_index(t)) = decoder.step(step, parents, sentences).row(own);
  }
  return logits;
}

}  // namespace

TEST_CASE("patterns: cached steps compute what the whole sentence does") {
  using enum PatternType;
  for (const PatternType type : {full, window, sparse_strided, sparse_fixed}) {
    CAPTURE(pattern_word(type));
    const ModelConfig c = pattern_config(type, 8);
    const Transformer model = random_model(c, 3, default_backend());
    PackedTokens source, target;
    source.add(std::vector<int>{4, 9, 2, 0});
    std::vector<int> tokens(150);
    for (std::size_t t = 0; t < tokens.size(); ++t) tokens[t] = to_int(t * 7 % 30 + 1);
    target.add(tokens);
    const EncodedSource encoded = model.encode(source);
    const Matrix hidden = model.decode(target, encoded);
    Matrix whole(hidden.rows(), c.decoder_vocab_size);
    model.logits(hidden, whole);
    CHECK(stepwise(model, encoded, tokens) == whole);
  }
}

TEST_CASE("patterns: a cache of windows holds what someone still sees") {
  const ModelConfig windows = pattern_config(PatternType::window, 8);
  const ModelConfig all = small_pre_norm_config();
  const auto bytes = [](const ModelConfig& c, Index steps) {
    return IncrementalDecoder::cache_bytes(c, 2, steps, 0);
  };
  CHECK(bytes(windows, 100) == bytes(all, 5));
  CHECK(bytes(windows, 3) == bytes(all, 3));
}

TEST_CASE("patterns: a token out of every window changes nothing in one layer") {
  ModelConfig c = pattern_config(PatternType::full, 8);
  c.encoder_attention.type = PatternType::window;
  c.encoder_attention.windows = {8};
  c.encoder_layers = 1;
  const Transformer model = random_model(c, 3, default_backend());
  std::vector<int> ids(60, 7);
  const auto encoded = [&] {
    PackedTokens source;
    source.add(ids);
    return model.encode(source).rows;
  };
  const Matrix before = encoded();
  ids[30] = 8;
  const Matrix after = encoded();
  for (Index i = 0; i < 60; ++i) {
    CHECK((before.row(i) == after.row(i)) == (i < 26 || i > 34));
  }
}
