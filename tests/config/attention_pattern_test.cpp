#include "config/patterns/attention_pattern.h"

#include <doctest/doctest.h>

#include "base/files/files.h"
#include "check_error.h"
#include "config/model_config.h"

using namespace attn;
using attn::test::check_error;

namespace {

ModelConfig experiment(const std::string& pattern, const std::string& stack = "encoder",
                       int positions = 512) {
  const std::string text = R"({"vocab_size": 40, "max_position_embeddings": )" +
                           std::to_string(positions) + ", \"" + stack + R"(_attention": )" +
                           pattern + "}";
  ModelConfig config = model_config_from_experiment(parse_json(text, "x.json"), "x.json");
  validate(config, "x.json");
  return config;
}

void refuse(const std::string& pattern, const std::string& message,
            const std::string& stack = "encoder") {
  check_error([&] { experiment(pattern, stack); }, ExitCode::input, "x.json: " + message);
}

void refuse(const std::string& pattern, const std::string& message, int positions) {
  check_error([&] { experiment(pattern, "encoder", positions); }, ExitCode::input, message);
}

}  // namespace

TEST_CASE("patterns are read, and written as they were read") {
  for (const std::string text : {
           R"({"type":"window","window":64})",
           R"({"type":"window","window":[2,64,1024]})",
           R"({"type":"longformer","window":64,"global":[0,5]})",
           R"({"type":"bigbird","block_size":16,"random_blocks":2,"random":"seeded","seed":9})",
           R"({"type":"bigbird","block_size":16,"random_blocks":2,"random":"first"})",
           R"({"type":"sparse_strided","stride":22})",
           R"({"type":"sparse_fixed","stride":22,"summary":3})",
           R"({"type":"chunks","block_size":32,"global":[],"shift":true})",
           R"({"type":"linformer","k":32})",
           R"({"type":"performer","m":48,"orthogonal":false})",
           R"({"type":"performer","orthogonal":true})",
           R"({"type":"lsh","block_size":32,"rounds":3,"buckets":16})",
       }) {
    CAPTURE(text);
    const ModelConfig config = experiment(text);
    CHECK(parse_json(text, "") == to_json(config.encoder_attention));
    CHECK(config.model_type == "attn-demo");
    // A model directory has the same keys.
    const Json directory = to_config_json(config);
    CHECK(directory["encoder_attention"] == parse_json(text, ""));
    CHECK_FALSE(directory.contains("decoder_attention"));
    std::vector<std::string> unknown, notes;
    const ModelConfig again = model_config_from_directory(directory, "d", unknown, notes);
    CHECK(to_json(again.encoder_attention) == parse_json(text, ""));
    CHECK(again.decoder_attention.full());
  }
  CHECK(experiment(R"({"type": "full"})").model_type == "marian");
  CHECK(experiment(R"({"type": "longformer", "window": 8})").encoder_attention.globals ==
        std::vector<Index>{0});
  CHECK(experiment(R"({"type": "window", "window": 8})", "decoder").decoder_attention.window(1) ==
        8);
}

TEST_CASE("patterns that do not fit are refused") {
  refuse("3", "model.encoder_attention: expected a JSON object, {...}, but found 3");
  refuse("{}",
         "model.encoder_attention.type is missing; use full, window, longformer, bigbird, "
         "sparse_strided, sparse_fixed, chunks, linformer, performer or lsh");
  refuse(R"({"type": "linear"})",
         "model.encoder_attention.type \"linear\" is not supported; use full, window, longformer, "
         "bigbird, sparse_strided, sparse_fixed, chunks, linformer, performer or lsh");
  refuse(
      R"({"type": "window"})",
      "model.encoder_attention.window is missing; give an even number, or a list of one per layer");
  refuse(R"({"type": "full", "window": 4})",
         "unknown key \"window\" in model.encoder_attention; its keys are type");
  refuse(R"({"type": "window", "window": 7})",
         "encoder_attention.window is 7, which is odd; half of it is on each side, so use "
         "6 or 8");
  refuse(R"({"type": "window", "window": 0})",
         "encoder_attention.window is 0; use 2 to 1024 with 512 positions");
  refuse(R"({"type": "longformer", "window": 1026})",
         "encoder_attention.window is 1026; use 2 to 1024 with 512 positions");
  refuse(R"({"type": "window", "window": [8, 8]})",
         "encoder_attention.window has 2 numbers; use one, or 3, one per layer");
  refuse(R"({"type": "window", "window": []})",
         "model.encoder_attention.window is []; expected at least one integer");
  refuse(R"({"type": "window", "window": "8"})",
         "model.encoder_attention.window is \"8\"; expected an integer or a list of integers");
  refuse(R"({"type": "longformer", "window": 8, "global": [0, 512]})",
         "encoder_attention.global has position 512; use 0 to 511");
  refuse(R"({"type": "longformer", "window": 8, "global": [-1]})",
         "encoder_attention.global has position -1; use 0 to 511");
  refuse(R"({"type": "longformer", "window": 8, "global": [3, 3]})",
         "model.encoder_attention.global [3,3] has a position twice; keep one of them");
  refuse(R"({"type": "chunks", "block_size": 8, "global": 0})",
         "model.encoder_attention.global is 0; expected a list of positions, such as [0]");
  refuse(R"({"type": "chunks", "block_size": 513})",
         "encoder_attention.block_size is 513; use 1 to 512 with 512 positions");
  refuse(R"({"type": "chunks", "block_size": 9, "shift": true})",
         "encoder_attention.block_size is 9, which is odd; half of it is on each side, so use 8 or "
         "10");
  refuse(R"({"type": "chunks", "block_size": 0})",
         "encoder_attention.block_size is 0; use 1 to 512 with 512 positions");
  refuse(R"({"type": "chunks", "block_size": 1, "shift": true})",
         "encoder_attention.block_size is 1, which is odd; half of it is on each side, so use 2");
  refuse(R"({"type": "chunks", "block_size": 511, "shift": true})", "so use 510 or 512", 512);
  CHECK_THROWS_WITH(
      experiment(R"({"type": "chunks", "block_size": 511, "shift": true})", "encoder", 511),
      "x.json: encoder_attention.block_size is 511, which is odd; half of it is on each side, so "
      "use 510");
  refuse(R"({"type": "chunks", "block_size": 1, "shift": true})",
         "which is odd; with 1 position there is no other", 1);
  refuse(R"({"type": "bigbird", "block_size": 1, "random_blocks": 0})",
         "4 positions are too few for bigbird, whose rows see 5 blocks; use at least 5", 4);
  refuse(R"({"type": "bigbird", "block_size": 2, "random_blocks": 0})",
         "encoder_attention.block_size 2 does not fit: 5 positions have 3 blocks of it, and every "
         "row sees 5; use at most 1",
         5);
  refuse(R"({"type": "bigbird", "block_size": 64, "random_blocks": -1})",
         "encoder_attention.random_blocks is -1; 512 positions have 8 blocks of 64, of which 5 are "
         "seen anyway: use 0 to 3");
  refuse(R"({"type": "sparse_fixed", "stride": 513})",
         "encoder_attention.stride is 513; use 1 to 512 with 512 positions");
  refuse(R"({"type": "bigbird", "block_size": 0})",
         "encoder_attention.block_size is 0; use 1 to 512 with 512 positions");
  refuse(R"({"type": "bigbird", "block_size": 200})",
         "encoder_attention.block_size 200 does not fit: 512 positions have 3 blocks of it, "
         "and every row sees 5; use at most 102");
  refuse(R"({"type": "bigbird", "block_size": 64, "random_blocks": 4})",
         "encoder_attention.random_blocks is 4; 512 positions have 8 blocks of 64, of which 5 "
         "are seen anyway: use 0 to 3");
  refuse(R"({"type": "bigbird", "block_size": 16, "random": "some"})",
         "model.encoder_attention.random \"some\" is not supported; use seeded or first");
  refuse(R"({"type": "bigbird", "block_size": 16, "random": "first", "seed": 1})",
         "unknown key \"seed\" in model.encoder_attention; ");
  refuse(R"({"type": "sparse_fixed", "stride": 8, "summary": 9})",
         "encoder_attention.summary is 9; use 1 to 8 with 512 positions");
  refuse(R"({"type": "sparse_strided", "stride": 0})",
         "encoder_attention.stride is 0; use 1 to 512 with 512 positions");
  refuse(R"({"type": "linformer"})", "model.encoder_attention.k is missing; give a whole number");
  refuse(R"({"type": "linformer", "k": 0})",
         "encoder_attention.k is 0; use 1 to 512 with 512 positions");
  refuse(R"({"type": "linformer", "k": 513})",
         "encoder_attention.k is 513; use 1 to 512 with 512 positions");
  refuse(R"({"type": "linformer"})", "model.decoder_attention.type \"linformer\" looks ahead",
         "decoder");
  refuse(
      R"({"type": "linformer", "k": 8})",
      "model.decoder_attention.type \"linformer\" looks ahead, which a decoder must not; use full, "
      "window, sparse_strided, sparse_fixed or performer",
      "decoder");
  refuse(
      R"({"type": "performer", "m": 0})",
      "model.encoder_attention.m is 0; use at least 1, or leave it out for head_dim · ln head_dim");
  refuse(R"({"type": "performer", "m": 513})",
         "decoder_attention.m is 513; use 1 to 512 with 512 positions", "decoder");
  refuse(R"({"type": "performer", "k": 8})", "unknown key \"k\" in model.encoder_attention; ");
  refuse(R"({"type": "lsh", "buckets": 8})",
         "model.encoder_attention.block_size is missing; give a whole number");
  refuse(R"({"type": "lsh", "block_size": 8})",
         "model.encoder_attention.buckets is missing; give a whole number");
  refuse(R"({"type": "lsh", "block_size": 513, "buckets": 8})",
         "encoder_attention.block_size is 513; use 1 to 512 with 512 positions");
  refuse(R"({"type": "lsh", "block_size": 8, "buckets": 7})",
         "encoder_attention.buckets is 7, which is odd; each rotation and its opposite are a "
         "bucket, so use 6 or 8");
  refuse(R"({"type": "lsh", "block_size": 8, "buckets": 0})",
         "encoder_attention.buckets is 0; use 2 to 65536");
  refuse(R"({"type": "lsh", "block_size": 8, "buckets": 8, "rounds": 0})",
         "encoder_attention.rounds is 0; use 1 to 64");
  refuse(R"({"type": "lsh", "block_size": 8, "buckets": 8})",
         "model.decoder_attention.type \"lsh\" looks ahead, which a decoder must not; use full, "
         "window, "
         "sparse_strided, sparse_fixed or performer",
         "decoder");
  for (const std::string type : {"longformer", "chunks", "bigbird"}) {
    const std::string size = type == "longformer" ? R"("window": 8)" : R"("block_size": 8)";
    refuse(R"({"type": ")" + type + "\", " + size + "}",
           "model.decoder_attention.type \"" + type +
               "\" looks ahead, which a decoder must not; use full, window, sparse_strided, "
               "sparse_fixed or performer",
           "decoder");
  }
}

TEST_CASE("a marian directory has no patterns: only that of its class may stand there") {
  ModelConfig config;
  config.encoder_attention.type = PatternType::window;
  config.encoder_attention.windows = {8};
  Json json = to_config_json(config);
  json["model_type"] = "marian";
  std::vector<std::string> unknown, notes;
  const auto read = [&] { return model_config_from_directory(json, "d", unknown, notes); };
  check_error(
      read, ExitCode::input,
      "d: encoder_attention is for model_type \"attn-demo\", and this model's is \"marian\"; "
      "leave one of them out");
  json["decoder_attention"] = json["encoder_attention"];
  json["encoder_attention"] = {{"type", "full"}};
  check_error(read, ExitCode::input, "d: decoder_attention is for model_type");
  json.erase("decoder_attention");
  CHECK(read().encoder_attention.full());
}
