#include "config/family.h"

#include <doctest/doctest.h>

#include "check_error.h"
#include "config/parameter_table.h"

namespace attn {
namespace {

using test::check_error;

ModelConfig read_family_model(const std::string& text, std::vector<std::string>& notes) {
  std::vector<std::string> unknown;
  return model_config_from_directory(parse_json(text, "config.json"), "config.json", unknown,
                                     notes);
}

ModelConfig family_model(const std::string& type, const std::string& more = "") {
  std::vector<std::string> notes;
  const ModelConfig config =
      read_family_model(R"({"model_type": ")" + type + "\"" + more + "}", notes);
  CHECK(notes.empty());
  return config;
}

void refuse_family(const std::string& type, const std::string& more, const std::string& message) {
  std::vector<std::string> notes;
  check_error([&] { read_family_model(R"({"model_type": ")" + type + "\", " + more + "}", notes); },
              ExitCode::input, message);
}

bool has_parameter(const ModelConfig& config, const std::string& name) {
  for (const auto& block : parameter_table(model_sizes(config))) {
    const bool layers = block.kind == ParameterBlockType::encoder_layers ||
                        block.kind == ParameterBlockType::decoder_layers;
    for (const auto& entry : block.entries) {
      if (block.prefix + (layers ? "0." : "") + entry.name == name) return true;
    }
  }
  return false;
}

TEST_CASE("families take the defaults of their classes") {
  const ModelConfig bart = family_model("bart");
  CHECK(bart.normalize_embedding);
  CHECK_FALSE(bart.normalize_before);
  CHECK_FALSE(bart.static_positions);
  CHECK_FALSE(bart.scale_embedding);
  CHECK(bart.decoder_start_token_id == 2);
  const ModelConfig mbart = family_model("mbart");
  CHECK(mbart.normalize_embedding);
  CHECK(mbart.normalize_before);
  CHECK(mbart.add_final_layer_norm);
  CHECK_FALSE(mbart.scale_embedding);
  CHECK(mbart.activation == Activation::gelu);
  CHECK(mbart.decoder_start_token_id == 0);  // not set: generate uses <s>
  const ModelConfig m2m100 = family_model("m2m_100");
  CHECK(m2m100.normalize_before);
  CHECK_FALSE(m2m100.normalize_embedding);
  CHECK(m2m100.static_positions);
  CHECK(m2m100.scale_embedding);
  CHECK(m2m100.activation == Activation::relu);
  CHECK(m2m100.vocab_size == 128112);
  const ModelConfig led = family_model("led");
  CHECK(led.max_positions == 16384);
  CHECK(led.decoder_positions() == 1024);
  CHECK(led.encoder_attention.type == PatternType::longformer);
  CHECK(led.encoder_attention.window(11) == 512);
  CHECK(led.encoder_attention.globals == std::vector<Index>{0});
  const ModelConfig bigbird = family_model("bigbird_pegasus");
  CHECK(bigbird.activation == Activation::gelu_new);
  CHECK(bigbird.encoder_attention.type == PatternType::bigbird);
  CHECK_FALSE(bigbird.encoder_attention.random_is_seeded);
  CHECK_FALSE(bigbird.attention_biases);
  CHECK(bigbird.scale_embedding);
  const ModelConfig pegasus_x = family_model("pegasus_x");
  CHECK(pegasus_x.global_tokens == 32);
  CHECK(pegasus_x.static_positions);
  CHECK(pegasus_x.encoder_attention.shift);
}

TEST_CASE("families have their classes' names and numbers of parameters") {
  // Counted by PyTorch: sum(p.numel() for p in Class(Config()).parameters()).
  CHECK(count_parameters(family_model("bart")) == 406'291'456);
  CHECK(count_parameters(family_model("mbart")) == 406'295'552);
  CHECK(count_parameters(family_model("m2m_100")) == 483'905'536);
  CHECK(has_parameter(family_model("mbart"), "model.decoder.layernorm_embedding.weight"));
  CHECK(has_parameter(family_model("mbart"), "model.decoder.layer_norm.weight"));
  CHECK(count_parameters(family_model("led")) == 459'801'600);
  CHECK(count_parameters(family_model("bigbird_pegasus")) == 576'891'904);
  CHECK(count_parameters(family_model("pegasus_x")) == 568'568'832);
  CHECK(has_parameter(family_model("bart"), "model.encoder.layernorm_embedding.weight"));
  CHECK(has_parameter(family_model("led"),
                      "led.encoder.layers.0.self_attn.longformer_self_attn.value_global.bias"));
  CHECK(has_parameter(family_model("bigbird_pegasus"),
                      "model.encoder.layers.0.self_attn.self.query.weight"));
  CHECK_FALSE(has_parameter(family_model("bigbird_pegasus"),
                            "model.encoder.layers.0.self_attn.self.query.bias"));
  CHECK(has_parameter(family_model("bigbird_pegasus", R"(, "use_bias": true)"),
                      "model.decoder.layers.0.self_attn.q_proj.bias"));
  CHECK(has_parameter(family_model("pegasus_x"),
                      "model.encoder.layers.0.global_self_attn_layer_norm.weight"));
}

TEST_CASE("a family's config is written as it is read") {
  for (const ModelFamily& family : families()) {
    CAPTURE(family.model_type);
    if (family.fixed_flags.empty())
      continue;  // written as the class that computes the model, by default marian
    const ModelConfig config = family_model(std::string(family.model_type));
    const Json json = to_config_json(config);
    CHECK(json["architectures"][0] == std::string(family.class_name));
    std::vector<std::string> unknown;
    std::vector<std::string> notes;
    const ModelConfig again = model_config_from_directory(json, "again", unknown, notes);
    CHECK(notes.empty());
    CHECK(to_config_json(again) == json);
  }
}

TEST_CASE("what a family cannot have is said in one line") {
  refuse_family("led", R"("attention_window": 7)",
                "config.json: attention_window is 7, which is odd");
  refuse_family("led", R"("attention_window": [4, 6])",
                "config.json: attention_window has 2 numbers; use one, or 12, one per layer");
  refuse_family(
      "led", R"("attention_window": "wide")",
      "attention_window is \"wide\"; expected an integer or a list of them, one per layer");
  refuse_family("led", R"("max_decoder_position_embeddings": -1)",
                "max_decoder_position_embeddings is -1; use 1 to 1048576");
  refuse_family("led", R"("max_decoder_position_embeddings": 0)",
                "max_decoder_position_embeddings is 0; use 1 to 1048576");
  for (const std::string window : {"0", "32770", "-2"}) {
    refuse_family("led", R"("attention_window": )" + window,
                  "config.json: attention_window is " + window + "; use 2 to 32768 with 16384");
  }
  refuse_family(
      "m2m_100", R"("d_model": 15, "encoder_attention_heads": 3, "decoder_attention_heads": 3)",
      "config.json: d_model 15 does not fit m2m_100's sinusoids; use an even number of at least 4");
  refuse_family("bigbird_pegasus", R"("block_size": 1025)",
                "config.json: block_size 1025 does not fit: 4096 positions have 4 blocks of it");
  refuse_family("bigbird_pegasus", R"("num_random_blocks": -1)",
                "config.json: num_random_blocks is -1; 4096 positions have 64 blocks of 64");
  for (const std::string block : {"0", "16385"}) {
    refuse_family("pegasus_x", R"("block_size": )" + block,
                  "config.json: block_size is " + block + "; use 1 to 16384 with 16384 positions");
  }
  refuse_family("bigbird_pegasus", R"("attention_type": "dense")",
                "attention_type \"dense\" is not supported; use block_sparse or original_full");
  refuse_family("bigbird_pegasus", R"("block_size": 0)", "config.json: block_size is 0; use 1 to");
  refuse_family("bigbird_pegasus", R"("num_random_blocks": 60)",
                "config.json: num_random_blocks is 60; 4096 positions have 64 blocks of 64");
  refuse_family("pegasus_x", R"("num_global_tokens": -1)",
                "num_global_tokens is -1; use 0 to 65536");
  refuse_family("pegasus_x", R"("block_size": 511)",
                "config.json: block_size is 511, which is odd");
  refuse_family("pegasus_x", R"("d_model": 15, "encoder_attention_heads": 3,
                "decoder_attention_heads": 3)",
                "d_model 15 does not fit pegasus_x's sinusoids; use an even number of at least 4");
  std::vector<std::string> notes;
  read_family_model(R"({"model_type": "bart", "normalize_before": true})", notes);
  CHECK(notes == std::vector<std::string>{
                     "config.json: normalize_before true is ignored, as transformers' bart class "
                     "ignores it"});
  check_error(
      [] {
        model_config_from_experiment(
            parse_json(R"({"model_type": "led", "normalize_before": true})", "x.json"), "x.json");
      },
      ExitCode::input,
      "x.json: model.normalize_before true is not what LEDForConditionalGeneration computes; leave "
      "it out");
  check_error(
      [] {
        model_config_from_experiment(
            parse_json(R"({"model_type": "bart", "attention_window": 4})", "x.json"), "x.json");
      },
      ExitCode::input, "x.json: unknown key \"attention_window\" in model");
  for (const auto& [type, key, here] :
       {std::tuple{"led", "encoder_attention", "attention_window"},
        {"led", "max_position_embeddings",
         "max_encoder_position_embeddings and max_decoder_position_embeddings"},
        {"bigbird_pegasus", "random_blocks", "num_random_blocks"}}) {
    const std::string text =
        R"({"model_type": ")" + std::string(type) + R"(", ")" + key + R"(": 4})";
    check_error(
        [&] { model_config_from_experiment(parse_json(text, "x.json"), "x.json"); },
        ExitCode::input,
        "x.json: unknown key \"" + std::string(key) + "\" in model; its name here is " + here);
  }
}

TEST_CASE("T5, mT5 and UMT5 take the defaults of their classes, and their own keys") {
  const ModelConfig t5 = family_model("t5");
  CHECK(count_parameters(t5) == 60'506'624);
  CHECK(t5.norm == NormType::rms);
  CHECK(t5.norm_epsilon == 1e-6F);
  CHECK_FALSE(t5.gated);
  CHECK_FALSE(t5.scale_attention);
  CHECK_FALSE(t5.absolute_positions);
  CHECK(t5.scale_output);
  CHECK(t5.encoder_head_dim() == 64);
  CHECK(t5.relative.buckets == 32);
  CHECK(t5.relative.max_distance == 128);
  CHECK(has_parameter(t5, "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"));
  CHECK(has_parameter(t5, "decoder.block.0.layer.2.DenseReluDense.wi.weight"));
  CHECK_FALSE(has_parameter(t5, "encoder.block.0.layer.0.SelfAttention.q.bias"));
  CHECK_FALSE(has_parameter(t5, "encoder.final_layer_norm.bias"));
  const ModelConfig mt5 = family_model("mt5");
  CHECK(count_parameters(mt5) == 172'119'424);
  CHECK(mt5.activation == Activation::gelu_new);
  CHECK_FALSE(mt5.scale_output);
  CHECK(mt5.encoder_inner_dim() == 384);
  CHECK(has_parameter(mt5, "encoder.block.0.layer.1.DenseReluDense.wi_1.weight"));
  CHECK(count_parameters(family_model("umt5")) == 172'122'112);
  const ModelConfig v11 = family_model(
      "t5", R"(, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false, "num_layers": 3,
              "num_decoder_layers": null, "num_attention_heads": 5, "head_dim": 7)");
  CHECK(v11.gated);
  CHECK(v11.activation == Activation::gelu_new);
  CHECK_FALSE(v11.scale_output);
  CHECK(v11.decoder_layers == 3);
  CHECK(v11.decoder_inner_dim() == 35);
  CHECK(family_model("t5", R"(, "feed_forward_proj": "gelu")").activation == Activation::gelu);
  // In files written by transformers 5, the key of the scale takes precedence.
  const std::string saved = R"(, "tie_word_embeddings": true, "scale_decoder_outputs": false)";
  CHECK_FALSE(family_model("t5", saved).scale_output);
}

TEST_CASE("what T5's classes cannot compute is refused") {
  const auto refuse = [](const std::string& more, const std::string& message) {
    refuse_family("t5", more, "config.json: " + message);
  };
  for (const std::string n : {"0", "3", "-4", "65537"}) {
    refuse(R"("relative_attention_num_buckets": )" + n,
           "relative_attention_num_buckets is " + n + "; use 4 to 65536");
  }
  refuse(R"("relative_attention_num_buckets": 7)",
         "relative_attention_num_buckets is 7; use an even number, as each direction has half of "
         "them in the encoder");
  refuse(R"("relative_attention_max_distance": 16)",
         "relative_attention_max_distance is 16; use more than 16, half of "
         "relative_attention_num_buckets");
  refuse(R"("d_kv": 0)", "d_kv is 0; use 1 to 65536");
  refuse(R"("num_heads": 0)", "num_heads is 0; it must be at least 1");
  refuse(R"("feed_forward_proj": "gated-tanh")",
         "feed_forward_proj \"gated-tanh\" is not supported; use relu, gelu, gelu_new or silu, or "
         "gated- before one of them");
  refuse(R"("layer_norm_epsilon": 1)",
         "layer_norm_epsilon 1 is out of range; use a number from 0 to below 1");
}

}  // namespace
}  // namespace attn
