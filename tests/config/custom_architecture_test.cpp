// Tests the program's own model parts: their keys, what is written for them, and what is refused.
#include "config/custom_architecture.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "config/family.h"

using namespace attn;
using namespace attn::test;

namespace {

const std::string kSmall = R"("d_model": 12, "decoder_attention_heads": 4, "vocab_size": 40)";

/// Returns a model with two heads in the encoder and four in the decoder, unless `more` sets
/// others.
ModelConfig own_model(std::string more) {
  if (more.find("encoder_attention_heads") == std::string::npos) {
    more += R"(, "encoder_attention_heads": 2)";
  }
  ModelConfig config = model_config_from_experiment(
      parse_json("{" + kSmall + ", " + more + "}", "x.json"), "x.json");
  validate(config, "x.json");
  return config;
}

void refuse_own(const std::string& more, const std::string& message) {
  check_error([&] { own_model(more); }, ExitCode::input, message);
}

/// Writes the config, and reads it as a model directory's.
ModelConfig read_again(const ModelConfig& config) {
  std::vector<std::string> unknown, notes;
  const ModelConfig again =
      model_config_from_directory(to_config_json(config), "config.json", unknown, notes);
  CHECK(to_config_json(again) == to_config_json(config));
  return again;
}

}  // namespace

TEST_CASE("own parts are read, make the model one of attn-demo, and are written again") {
  const ModelConfig all = own_model(
      R"("head_dim": 5, "key_value_heads": 2, "position": "relative", "norm": "rms",
         "feed_forward": "gated", "relative_attention_num_buckets": 8,
         "relative_attention_max_distance": 20)");
  CHECK(all.model_type == "attn-demo");
  const ModelConfig again = read_again(all);
  CHECK(again.head_dim == 5);
  CHECK(again.encoder_inner_dim() == 10);
  CHECK(again.key_value_heads == 2);
  CHECK(again.decoder_kv_dim() == 10);
  CHECK(again.relative.buckets == 8);
  CHECK(again.relative.max_distance == 20);
  CHECK_FALSE(again.absolute_positions);
  CHECK(again.norm == NormType::rms);
  CHECK(again.norm_epsilon == 1e-6F);
  CHECK(again.gated);
  CHECK(custom_architecture_note(again) ==
        "transformers has no class with head_dim 5, key_value_heads 2, position \"relative\", "
        "relative_attention_num_buckets 8, relative_attention_max_distance 20, norm \"rms\", "
        "feed_forward \"gated\"; only attn-demo loads this model");

  const ModelConfig rotary = read_again(own_model(R"("position": "rotary", "head_dim": 6)"));
  CHECK(rotary.rotary);
  CHECK_FALSE(rotary.absolute_positions);
  CHECK_FALSE(rotary.relative.enabled());
  const ModelConfig none = read_again(own_model(R"("position": "none")"));
  CHECK_FALSE(none.absolute_positions);
  CHECK_FALSE(none.rotary);
  CHECK(own_model(R"("position": "relative")").relative.buckets == 32);
}

TEST_CASE("M2M100 counts places from pad's id on, so its class takes no pad behind its positions") {
  ModelConfig m2m100 = family_defaults(family_of("m2m_100"));
  m2m100.pad_token_id = 1025;
  CHECK_FALSE(custom_architecture_note(m2m100));
  m2m100.pad_token_id = 1026;
  CHECK(custom_architecture_note(m2m100) ==
        "transformers cannot build M2M100ForConditionalGeneration with pad_token_id 1026, which is "
        "beyond the 1026 rows of its positions; only attn-demo loads this model");
}

TEST_CASE("what says no more than Marian's shape leaves the model Marian's") {
  const ModelConfig usual = own_model(
      R"("norm": "layer", "feed_forward": "plain", "position": "sinusoidal",
         "static_position_embeddings": true)");
  CHECK(usual.model_type == "marian");
  CHECK_FALSE(has_custom_architecture(usual));
  CHECK_FALSE(custom_architecture_note(usual));
  CHECK_FALSE(own_model(R"("position": "learned")").static_positions);
  const ModelConfig even =
      own_model(R"("encoder_attention_heads": 4, "head_dim": 3, "key_value_heads": 4)");
  CHECK(even.head_dim == 0);
  CHECK(even.key_value_heads == 0);
  CHECK(even.model_type == "marian");
}

TEST_CASE("own parts count their parameters") {
  const auto count = [](const std::string& more) { return *count_parameters(own_model(more)); };
  const std::uint64_t plain = count(R"("head_dim": 6)"), layers = 3;
  // In a decoder layer, the keys and values of two attention blocks shrink from 24 columns to one
  // head of 6; in an encoder layer, those of one block from 12.
  CHECK(plain - count(R"("head_dim": 6, "key_value_heads": 1)") ==
        layers * 13 * (2 * 2 * 18 + 2 * 6));
  CHECK(plain - count(R"("head_dim": 6, "norm": "rms")") ==
        layers * 12 * 5);  // biases of the norms
  CHECK(count(R"("head_dim": 6, "feed_forward": "gated")") - plain == layers * 2 * 13 * 1024);
  CHECK(count(R"("head_dim": 6, "position": "relative")") - plain == 32 * (2 + 4));
}

TEST_CASE("own parts that cannot be are refused in one line") {
  refuse_own(R"("position": "rotery")",
             "x.json: model.position \"rotery\" is not supported; use sinusoidal, learned, "
             "relative, rotary or none");
  refuse_own(R"("norm": "batch")",
             "x.json: model.norm \"batch\" is not supported; use layer or rms");
  refuse_own(R"("feed_forward": "wide")",
             "x.json: model.feed_forward \"wide\" is not supported; use plain or gated");
  refuse_own(R"("norm": 1)", "x.json: model.norm");
  refuse_own(R"("head_dim": 0)", "x.json: model.head_dim is 0; use 1 to 65536");
  refuse_own(R"("head_dim": 60000)",
             "x.json: head_dim 60000 times encoder_attention_heads 2 is beyond the "
             "limit of 65536 columns");
  refuse_own(R"("key_value_heads": 0)", "x.json: model.key_value_heads is 0; use 1 to 65536");
  refuse_own(R"("key_value_heads": 3)",
             "x.json: key_value_heads 3 does not divide encoder_attention_heads 2; use 1 or 2");
  refuse_own(R"("key_value_heads": 4)", "does not divide encoder_attention_heads 2");
  refuse_own(R"("position": "rotary", "head_dim": 5)",
             "x.json: position \"rotary\" rotates pairs of a head's columns, and a head has 5; "
             "choose an even head_dim");
  refuse_own(R"("position": "rotary")", "and a head has 3; choose an even head_dim");
  const std::string buckets = R"("position": "relative", "relative_attention_num_buckets": )";
  refuse_own(buckets + "0", "x.json: model.relative_attention_num_buckets is 0; use 4 to");
  refuse_own(buckets + "7", "x.json: model.relative_attention_num_buckets is 7; use an even");
  refuse_own(buckets + R"(8, "relative_attention_max_distance": 4)",
             "x.json: model.relative_attention_max_distance is 4; use more than 4");
  refuse_own(R"("relative_attention_num_buckets": 8)",
             "x.json: model.relative_attention_num_buckets is for position \"relative\", which "
             "this model does not use; leave it out");
  refuse_own(R"("position": "learned", "static_position_embeddings": true)",
             "x.json: model.position \"learned\" and static_position_embeddings true contradict "
             "each other; keep one of them");
  refuse_own(R"("position": "none", "static_position_embeddings": false)", "contradict each other");
  refuse_own(R"("model_type": "pegasus", "norm": "rms")",
             "does not compute these norms, embeddings, positions or attention");
  refuse_own(R"("model_type": "bart", "norm": "rms")", "norm");
}

TEST_CASE("kinds of attention that take no biases, turned or shared keys are refused with them") {
  const std::string kinds[] = {R"({"type": "linformer", "k": 4})", R"({"type": "performer"})",
                               R"({"type": "lsh", "block_size": 8, "buckets": 4})"};
  const std::string words[] = {"linformer", "performer", "lsh"};
  const std::pair<std::string, std::string> parts[] = {
      {R"("position": "relative")", "position \"relative\""},
      {R"("position": "rotary", "head_dim": 4)", "position \"rotary\""},
      {R"("key_value_heads": 1)", "key_value_heads"}};
  for (std::size_t k = 0; k < 3; ++k) {
    for (const auto& part : parts) {
      refuse_own(part.first + R"(, "encoder_attention": )" + kinds[k],
                 "x.json: encoder_attention " + words[k] + " cannot be combined with " +
                     part.second + "; choose a kind that leaves keys out");
    }
    CHECK(own_model(R"("head_dim": 4, "norm": "rms", "position": "none", "encoder_attention": )" +
                    kinds[k])
              .head_dim == 4);
  }
  CHECK(own_model(R"("position": "relative", "key_value_heads": 1,
                     "encoder_attention": {"type": "longformer", "window": 4})")
            .relative.enabled());
}
