// Tests errors of linformer, performer and lsh through the program: bad configs, and models whose
// matrices do not match config.json.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "base/json.h"

namespace attn::test {
namespace {

/// Returns the demo's config with 64 positions and this pattern.
BadCase attention_config(const std::string& stack, const std::string& pattern,
                         const std::string& says) {
  return {stack + " " + pattern,
          {"translate", "--config", "{dir}/config.json", kDemoSource},
          kInput,
          {"attn-demo: {dir}/config.json: " + says},
          [stack, pattern](const TemporaryDirectory& scene) {
            scene.write("config.json",
                        filled(R"({"model": {"d_model": 12, "encoder_attention_heads": 2,
                          "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
                          "max_position_embeddings": 64, ")" +
                                   stack + R"(_attention": )" + pattern +
                                   R"(}, "tokenizer": {"model": "{tokenizer}"}})",
                               scene));
          }};
}

/// Returns a model with this pattern, written by the program, with one key of config.json changed.
BadCase stored_attention(const std::string& pattern, const std::string& pointer, int value,
                         const std::string& says) {
  return {pattern + " with " + pointer + " " + std::to_string(value),
          {"translate", "--model", "{dir}/m", kDemoSource},
          kInput,
          {"attn-demo: {dir}/m/" + says},
          [=](const TemporaryDirectory& scene) {
            const Result made = run_program(
                {.args = {"init", "--config", demo_config(), "--set",
                          "model.encoder_attention=" + pattern, "--out", scene.file("m")}});
            REQUIRE_MESSAGE(made.code == kDone, made.err);
            const std::string path = scene.file("m") + "/config.json";
            Json json = Json::parse(bytes_of(path));
            json[Json::json_pointer(pointer)] = value;
            scene.write("m/config.json", json.dump());
          }};
}

}  // namespace

TEST_CASE("bad input: linformer, performer and lsh in a config") {
  const std::string too_many = "; use 1 to 64 with 64 positions";
  const std::string ahead =
      " looks ahead, which a decoder must not; use full, window, sparse_strided, sparse_fixed or "
      "performer";
  check_all({
      attention_config("encoder", R"({"type": "linformer", "k": 0})",
                       "encoder_attention.k is 0" + too_many),
      attention_config("encoder", R"({"type": "linformer", "k": 65})",
                       "encoder_attention.k is 65" + too_many),
      attention_config("encoder", R"({"type": "linformer"})",
                       "model.encoder_attention.k is missing; give a whole number"),
      attention_config("encoder", R"({"type": "performer", "m": 0})",
                       "model.encoder_attention.m is 0; use at least 1, or leave it out for "
                       "head_dim · ln head_dim"),
      attention_config("decoder", R"({"type": "performer", "m": 65})",
                       "decoder_attention.m is 65" + too_many),
      attention_config(
          "encoder", R"({"type": "lsh", "block_size": 8, "buckets": 7})",
          "encoder_attention.buckets is 7, which is odd; each rotation and its opposite are a "
          "bucket, so use 6 or 8"),
      attention_config("encoder", R"({"type": "lsh", "block_size": 8, "buckets": 0})",
                       "encoder_attention.buckets is 0; use 2 to 65536"),
      attention_config("encoder", R"({"type": "lsh", "block_size": 8, "buckets": 8, "rounds": 0})",
                       "encoder_attention.rounds is 0; use 1 to 64"),
      attention_config("encoder", R"({"type": "lsh", "block_size": 65, "buckets": 8})",
                       "encoder_attention.block_size is 65" + too_many),
      attention_config("decoder", R"({"type": "linformer", "k": 8})",
                       "model.decoder_attention.type \"linformer\"" + ahead),
      attention_config("decoder", R"({"type": "lsh", "block_size": 8, "buckets": 8})",
                       "model.decoder_attention.type \"lsh\"" + ahead),
  });
}

TEST_CASE("bad input: matrices of linformer, performer and lsh of another shape") {
  const std::string first = "model.safetensors: tensor model.encoder.layers.0.self_attn.";
  const std::string linformer = R"({"type": "linformer", "k": 6})";
  check_all({
      stored_attention(linformer, "/encoder_attention/k", 7,
                       first + "proj_k has shape [64, 6]; config.json asks for [64, 7]"),
      // These texts are longer than the stored E.
      stored_attention(linformer, "/max_position_embeddings", 65,
                       first + "proj_k has shape [64, 6]; config.json asks for [65, 6]"),
      stored_attention(linformer, "/encoder_attention/k", 65,
                       "config.json: encoder_attention.k is 65; use 1 to 64 with 64 positions"),
      stored_attention(R"({"type": "performer", "m": 10})", "/encoder_attention/m", 11,
                       first + "projection_matrix has shape [10, 6]; config.json asks for [11, 6]"),
      stored_attention(R"({"type": "lsh", "block_size": 8, "buckets": 8})",
                       "/encoder_attention/rounds", 3,
                       first + "rotations has shape [12, 8]; config.json asks for [12, 12]"),
  });
}

TEST_CASE("a sentence beyond linformer's projections is cut to them, and said to be") {
  std::string text = "The";
  for (int i = 0; i < 50; ++i) text += " group went";
  const Result result = run_program(
      {.args = {"translate", "--config", demo_config(), "--set",
                R"(model.encoder_attention={"type": "linformer", "k": 6})", "--json", "-", text}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(Json::parse(result.out)["source"]["ids"].size() == 64);
  CHECK(result.err.find("note: sentence 1 is longer than the model's 64 positions and was cut\n") !=
        std::string::npos);
}

}  // namespace attn::test
