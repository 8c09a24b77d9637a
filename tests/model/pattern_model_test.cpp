// Tests models with sparse patterns: whole sentences and cached steps give the same results.
#include <doctest/doctest.h>

#include <numeric>

#include "base/at.h"
#include "base/files/files.h"
#include "check_error.h"
#include "model/directory/model_directory.h"
#include "model/incremental_decoder.h"
#include "model/transformer.h"
#include "small_training.h"
#include "temporary_directory.h"

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

/// Returns the logits of every step of one hypothesis whose cache rows are among those of others.
Matrix stepwise(const Transformer& model, const EncodedSource& source,
                const std::vector<int>& tokens, AttentionObserver* observer = nullptr) {
  IncrementalDecoder decoder(model, observer);
  decoder.add_sentences(source, std::vector<SlotSize>{{3, std::ssize(tokens)}});
  Matrix logits(std::ssize(tokens), model.config().decoder_vocab_size);
  Index own = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    // The hypothesis moves to another row at each step; the other rows are forks of it.
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
  for (const PatternType type : {full, window, sparse_strided, sparse_fixed, performer}) {
    CAPTURE(pattern_name(type));
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
    const Matrix steps = stepwise(model, encoded, tokens);
    if (type == performer) {  // it sums whole sentences in blocks of keys
      CHECK((steps - whole).cwiseAbs().maxCoeff() < 1e-5F);
    } else {
      CHECK(steps == whole);
    }
  }
}

TEST_CASE("patterns: a cache holds what someone still sees") {
  const ModelConfig windows = pattern_config(PatternType::window, 8);
  const ModelConfig fixed = pattern_config(PatternType::sparse_fixed, 8);
  const ModelConfig all = small_pre_norm_config();
  const auto bytes = [](const ModelConfig& c, Index steps) {
    return IncrementalDecoder::cache_bytes(c, 2, steps, 0);
  };
  CHECK(bytes(windows, 100) == bytes(all, 5));
  CHECK(bytes(windows, 3) == bytes(all, 3));
  CHECK(bytes(fixed, 100) == bytes(all, 6 + 13 * 2));  // a block of 8, and two of each other block
  CHECK(bytes(fixed, 8) == bytes(all, 8));
  CHECK(bytes(fixed, 3) == bytes(all, 3));
  ModelConfig whole_blocks = fixed;
  whole_blocks.decoder_attention.summary = 8;
  CHECK(bytes(whole_blocks, 100) == bytes(all, 100));
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

TEST_CASE("performer: a cache of one size whatever the step, and as exact with an observer") {
  const ModelConfig c = pattern_config(PatternType::performer, 8);
  CHECK(IncrementalDecoder::cache_bytes(c, 2, 10, 0) ==
        IncrementalDecoder::cache_bytes(c, 2, 100, 0));
  // An observer needs keys, which are then cached: another way to compute the same steps.
  struct Watching : AttentionObserver {
    int heads = 0;
    void weights_ready(AttentionHead&) override { ++heads; }
  } watching;
  const Transformer model = random_model(c, 3, default_backend());
  PackedTokens source;
  source.add(std::vector<int>{4, 9, 2, 0});
  std::vector<int> tokens(70);
  for (std::size_t t = 0; t < tokens.size(); ++t) tokens[t] = to_int(t * 7 % 30 + 1);
  const EncodedSource encoded = model.encode(source);
  const Matrix watched = stepwise(model, encoded, tokens, &watching);
  CHECK(watching.heads > 0);
  CHECK((watched - stepwise(model, encoded, tokens)).cwiseAbs().maxCoeff() < 1e-5F);
}

TEST_CASE("linformer, performer and lsh: a sentence gives the same alone and in a batch") {
  using enum PatternType;
  for (const PatternType type : {linformer, performer, lsh}) {
    CAPTURE(pattern_name(type));
    ModelConfig c = pattern_config(PatternType::full, 8);
    c.encoder_attention.type = type;
    c.encoder_attention.rank = 6;
    c.encoder_attention.block_size = 8;
    c.encoder_attention.rounds = 2;
    c.encoder_attention.buckets = 4;
    const Transformer model = random_model(c, 3, default_backend());
    std::vector<int> ids(45);
    for (std::size_t t = 0; t < ids.size(); ++t) ids[t] = to_int(t * 7 % 30 + 1);
    PackedTokens alone, batch;
    alone.add(ids);
    batch.add(std::vector<int>{4, 9, 2, 0});
    batch.add(ids);
    const Matrix expected = model.encode(alone).rows;
    CHECK(expected.allFinite());
    CHECK(model.encode(batch).rows.bottomRows(45) == expected);
  }
}

TEST_CASE("linformer, performer and lsh are written and read, matrices and all") {
  using enum PatternType;
  for (const PatternType type : {linformer, performer, lsh}) {
    CAPTURE(pattern_name(type));
    ModelConfig c = pattern_config(type == performer ? performer : full, 8);
    c.encoder_attention.type = type;
    c.encoder_attention.rank = 6;
    c.encoder_attention.features = 10;
    c.encoder_attention.block_size = 8;
    c.encoder_attention.rounds = 2;
    c.encoder_attention.buckets = 4;
    c.model_type = model_type_for(c);
    CHECK(c.model_type == "attn-demo");
    const Transformer model = random_model(c, 3, default_backend());
    PackedTokens source;
    source.add(std::vector<int>(40, 7));
    const attn::test::TemporaryDirectory scene;
    save_model(model, {}, scene.path(), DType::f32);
    {
      const LoadedModel again = load_model(scene.path(), default_backend());
      CHECK(again.notes.empty());
      CHECK(again.transformer.encode(source).rows == model.encode(source).rows);
    }
    Json config = read_json_file(scene.file("config.json"));
    const char* key = type == linformer ? "k" : type == performer ? "m" : "rounds";
    config["encoder_attention"][key] = 3;
    write_file(scene.file("config.json"), config.dump());
    const std::string self = "tensor model.encoder.layers.0.self_attn.";
    const std::string says =
        type == linformer   ? "proj_k has shape [200, 6]; config.json asks for "
                              "[200, 3]"
        : type == performer ? "projection_matrix has shape [10, 5]; config.json asks for [3, 5]"
                            : "rotations has shape [15, 4]; config.json asks for [15, 6]";
    attn::test::check_error([&] { (void)load_model(scene.path(), default_backend()); },
                            ExitCode::input, scene.file("model.safetensors") + ": " + self + says);
  }
}

TEST_CASE("linformer, performer and lsh in 16 bits compute what the rounded weights say") {
  using enum PatternType;
  for (const PatternType type : {linformer, performer, lsh}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      CAPTURE(pattern_name(type));
      ModelConfig c = pattern_config(full, 8);
      c.encoder_attention.type = type;
      c.encoder_attention.rank = 6;
      c.encoder_attention.features = 10;
      c.encoder_attention.block_size = 8;
      c.encoder_attention.rounds = 2;
      c.encoder_attention.buckets = 4;
      c.model_type = model_type_for(c);
      const attn::test::TemporaryDirectory in_half, in_whole;
      save_model(random_model(c, 3, default_backend()), {}, in_half.path(), dtype);
      const LoadedModel half = load_model(in_half.path(), default_backend());
      save_model(half.transformer, {}, in_whole.path(), DType::f32);
      const LoadedModel whole = load_model(in_whole.path(), default_backend());
      std::vector<int> ids(60);
      for (std::size_t t = 0; t < ids.size(); ++t) ids[t] = to_int(t * 11 % 30 + 1);
      PackedTokens source;
      source.add(ids);
      const Matrix rows = half.transformer.encode(source).rows;
      CHECK(rows.allFinite());
      CHECK((rows - whole.transformer.encode(source).rows).cwiseAbs().maxCoeff() < 1e-5F);
    }
  }
}

TEST_CASE("linformer's projections are counted, what is drawn is not, and lsh has one key fewer") {
  using enum PatternType;
  ModelConfig c = pattern_config(full, 8);
  const auto layers = to_size(c.encoder_layers);
  const std::uint64_t before = count_parameters(c).value();
  c.encoder_attention.type = linformer;
  c.encoder_attention.rank = 6;
  CHECK(count_parameters(c).value() == before + layers * 2 * 200 * 6);
  c.encoder_attention.type = performer;
  CHECK(count_parameters(c).value() == before);
  c.encoder_attention.type = lsh;
  c.encoder_attention.rounds = 2;
  c.encoder_attention.buckets = 4;
  const auto d = to_size(c.d_model);
  CHECK(count_parameters(c).value() == before - layers * (d * d + d));
}
