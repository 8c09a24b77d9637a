#include "config/model_config.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/files/files.h"
#include "check_error.h"

using attn::ExitCode;
using attn::Json;
using attn::ModelConfig;
using attn::test::check_error;

namespace {

struct ModelRead {
  ModelConfig config;
  std::vector<std::string> unknown;
  std::vector<std::string> notes;
};

ModelRead read_model(const std::string& text) {
  ModelRead result;
  result.config = attn::model_config_from_directory(attn::parse_json(text, "config.json"),
                                                    "config.json", result.unknown, result.notes);
  return result;
}

ModelConfig model_of_experiment(const std::string& text) {
  return attn::model_config_from_experiment(attn::parse_json(text, "x.json"), "x.json");
}

/// Returns a marian directory's config with a small vocabulary and feed-forward layer, and the
/// keys of `more`.
std::string demo(const std::string& more) {
  return R"({"model_type": "marian", "vocab_size": 40, "pad_token_id": 39,
             "decoder_start_token_id": 39, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48)" +
         (more.empty() ? "" : ", " + more) + "}";
}

void refuse_model(const std::string& more, const std::string& message) {
  check_error([&] { read_model(demo(more)); }, ExitCode::input, message);
}

}  // namespace

TEST_CASE("a marian directory takes MarianConfig's defaults for missing keys") {
  const ModelConfig config = read_model(R"({"model_type": "marian"})").config;
  CHECK(config.d_model == 1024);
  CHECK(config.encoder_layers == 12);
  CHECK(config.decoder_heads == 16);
  CHECK(config.decoder_ffn_dim == 4096);
  CHECK(config.vocab_size == 58101);
  CHECK(config.decoder_vocab_size == 58101);
  CHECK(config.activation == attn::Activation::gelu);
  CHECK(config.pad_token_id == 58100);
  CHECK(config.decoder_start_token_id == 58100);
  CHECK(config.eos_token_id == 0);
  CHECK_FALSE(config.scale_embedding);
  CHECK(config.static_positions);
  CHECK_FALSE(config.normalize_before);
}

TEST_CASE("a pegasus directory takes PegasusConfig's defaults and is pre-norm") {
  const ModelRead pegasus = read_model(R"({"model_type": "pegasus"})");
  CHECK(pegasus.config.vocab_size == 50265);
  CHECK(pegasus.config.pad_token_id == 0);
  CHECK(pegasus.config.decoder_start_token_id == 0);
  CHECK(pegasus.config.eos_token_id == 1);
  CHECK(pegasus.config.normalize_before);
  CHECK(pegasus.config.add_final_layer_norm);
  CHECK(pegasus.notes.empty());
}

TEST_CASE("keys that the class ignores are ignored with a note") {
  const ModelRead marian =
      read_model(demo(R"("normalize_before": true, "add_final_layer_norm": true,
      "normalize_embedding": true, "scale_attention": false)"));
  CHECK_FALSE(marian.config.normalize_before);
  CHECK_FALSE(marian.config.add_final_layer_norm);
  CHECK_FALSE(marian.config.normalize_embedding);
  CHECK(marian.config.scale_attention);
  REQUIRE(marian.notes.size() == 4);
  CHECK(marian.notes[0] ==
        "config.json: normalize_before true is ignored, as transformers' marian class ignores it");
  const ModelRead pegasus = read_model(R"({"model_type": "pegasus", "normalize_before": false,
      "share_encoder_decoder_embeddings": false, "decoder_vocab_size": 9})");
  CHECK(pegasus.config.normalize_before);
  CHECK(pegasus.config.share_embeddings);
  CHECK(pegasus.config.decoder_vocab_size == 50265);
  CHECK(pegasus.notes.size() == 2);
  const ModelRead plain = read_model(demo(R"("normalize_before": false, "scale_attention": true)"));
  CHECK(plain.notes.empty());
}

TEST_CASE("attn-demo honours every key") {
  const ModelRead own =
      read_model(R"({"model_type": "attn-demo", "d_model": 12, "num_attention_heads": 2,
      "decoder_attention_heads": 3, "vocab_size": 40, "pad_token_id": 39,
      "decoder_start_token_id": 39, "normalize_before": true, "normalize_embedding": true,
      "scale_attention": false, "static_position_embeddings": false})");
  CHECK(own.config.normalize_before);
  CHECK_FALSE(own.config.add_final_layer_norm);
  CHECK(own.config.normalize_embedding);
  CHECK_FALSE(own.config.scale_attention);
  CHECK_FALSE(own.config.static_positions);
  CHECK(own.config.encoder_heads == 2);
  CHECK(own.config.decoder_heads == 3);
  CHECK(own.notes.empty());
}

TEST_CASE("aliases stand for the encoder's keys, and disagreement is refused") {
  const ModelConfig config =
      read_model(demo(R"("hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2,
                   "decoder_attention_heads": 4)"))
          .config;
  CHECK(config.d_model == 12);
  CHECK(config.encoder_heads == 3);
  CHECK(config.decoder_heads == 4);
  CHECK(config.encoder_layers == 2);
  CHECK(config.decoder_layers == 12);
  CHECK(read_model(demo(R"("num_hidden_layers": 6, "encoder_layers": 6)")).config.encoder_layers ==
        6);
  refuse_model(R"("num_hidden_layers": 6, "encoder_layers": 5)",
               "encoder_layers 5 and its alias num_hidden_layers 6 differ");
}

TEST_CASE("unused keys are listed in the order of the file") {
  const ModelRead marian =
      read_model(demo(R"("torch_dtype": "float16", "architectures": ["MarianMTModel"],
      "id2label": {"0": "x"})"));
  CHECK(marian.unknown == std::vector<std::string>{"torch_dtype", "architectures", "id2label"});
}

TEST_CASE("model types and activations that are not supported are named") {
  check_error([] { read_model(R"({"model_type": "bert"})"); }, ExitCode::input,
              "config.json: model_type \"bert\" is not supported; supported are marian, pegasus, "
              "bart, mbart, m2m_100, led, bigbird_pegasus, pegasus_x, t5, mt5, umt5 and attn-demo");
  check_error([] { read_model("{}"); }, ExitCode::input, "model_type is missing; expected marian");
  check_error([] { read_model("[]"); }, ExitCode::input, "expected a JSON object");
  refuse_model(R"("activation_function": "tanh")",
               "activation_function \"tanh\" is not supported; use relu, gelu, gelu_new, swish or "
               "silu");
  CHECK(read_model(demo(R"("activation_function": "silu")")).config.activation ==
        attn::Activation::swish);
}

TEST_CASE("types are strict and messages say what was found") {
  refuse_model(R"("d_model": 2.0)", "config.json: d_model is 2.0; expected an integer");
  refuse_model(R"("d_model": "12")", "d_model is \"12\"; expected an integer");
  refuse_model(R"("d_model": true)", "d_model is true; expected an integer");
  refuse_model(R"("d_model": null)", "d_model is null; expected an integer");
  refuse_model(R"("d_model": [12])", "d_model is [12]; expected an integer");
  refuse_model(R"("scale_embedding": 1)", "scale_embedding is 1; expected true or false");
  refuse_model(R"("scale_embedding": "true")",
               "scale_embedding is \"true\"; expected true or false");
  refuse_model(R"("activation_function": 3)", "activation_function is 3; expected a string");
  refuse_model(R"("dropout": "0.1")", "dropout is \"0.1\"; expected a number");
  refuse_model(R"("eos_token_id": [0, 1])", "eos_token_id is [0,1]; expected one integer");
  refuse_model(R"("eos_token_id": null)", "eos_token_id is null; expected an integer");
  refuse_model(R"("eos_token_id": 4294967296)", "expected an integer below 2147483648");
  check_error([] { read_model(R"({"model_type": ["marian"]})"); }, ExitCode::input,
              "model_type is [\"marian\"]; expected a string");
}

TEST_CASE("ids may be lists of one, and lie within the vocabulary") {
  CHECK(read_model(demo(R"("eos_token_id": [7])")).config.eos_token_id == 7);
  refuse_model(R"("eos_token_id": 40)",
               "eos_token_id 40 is outside the vocabulary; vocab_size 40 allows 0 to 39");
  refuse_model(R"("eos_token_id": -1)", "eos_token_id -1 is outside the vocabulary");
  refuse_model(R"("decoder_vocab_size": 30, "share_encoder_decoder_embeddings": false)",
               "pad_token_id 39 is outside the vocabulary; decoder_vocab_size 30 allows 0 to 29");
}

TEST_CASE("sizes of zero, negative or beyond the limits") {
  refuse_model(R"("d_model": 0)", "config.json: d_model is 0; it must be at least 1");
  refuse_model(R"("encoder_layers": 0)", "encoder_layers is 0; it must be at least 1");
  refuse_model(R"("decoder_attention_heads": -4)", "decoder_attention_heads is -4; it must be");
  refuse_model(R"("hidden_size": -1)", "config.json: hidden_size is -1; it must be at least 1");
  refuse_model(R"("max_position_embeddings": 0)", "max_position_embeddings is 0");
  refuse_model(
      R"("d_model": 1099511627776)",
      "d_model 1099511627776 is beyond the limit of 65536: the model would take more than 18 "
      "EB of weights");
  refuse_model(R"("d_model": 1e30)", "more than 18 EB");
  refuse_model(R"("d_model": 99999999999999999999999999)", "more than 18 EB");
  refuse_model(R"("d_model": -1e30)", "it must be at least 1");
  // 10^9 encoder layers of 4·(1024² + 1024) + 2·1024·48 + 48 + 1024 + 4·1024 = 4,301,872 weights.
  refuse_model(
      R"("encoder_layers": 1000000000)",
      "encoder_layers 1000000000 is beyond the limit of 1000: the model would take about 17.2 "
      "PB of weights");
  // 2^30 rows of 1024 floats take 4.398 TB; the rest of the model takes a few hundred MB.
  check_error([] { read_model(R"({"model_type": "marian", "vocab_size": 1073741824})"); },
              ExitCode::input, "about 4.4 TB of weights");
  refuse_model(R"("encoder_attention_heads": 100000)", "is beyond the limit of 65536");
  check_error([] { read_model(R"({"model_type": "marian", "decoder_ffn_dim": 1048577})"); },
              ExitCode::input, "decoder_ffn_dim 1048577 is beyond the limit of 1048576");
  refuse_model(R"("max_position_embeddings": 1048577)", "is beyond the limit of 1048576");
}

TEST_CASE("head counts that do not divide d_model") {
  refuse_model(
      R"("d_model": 12, "encoder_attention_heads": 5, "decoder_attention_heads": 2)",
      "config.json: d_model 12 is not divisible by encoder_attention_heads 5; use 1, 2, 3, 4, 6 "
      "or 12");
  refuse_model(
      R"("hidden_size": 12, "num_attention_heads": 8)",
      "config.json: hidden_size 12 is not divisible by num_attention_heads 8; use 1, 2, 3");
  refuse_model(R"("d_model": 7, "encoder_attention_heads": 7, "decoder_attention_heads": 3)",
               "d_model 7 is not divisible by decoder_attention_heads 3; use 1 or 7");
  CHECK(attn::list_divisors(12) == "1, 2, 3, 4, 6 or 12");
  CHECK(attn::list_divisors(1) == "1");
}

TEST_CASE("dropouts lie in [0, 1)") {
  refuse_model(R"("dropout": 1.0)", "dropout 1 is out of range; use a number from 0 to below 1");
  refuse_model(R"("attention_dropout": -0.1)", "attention_dropout -0.1 is out of range");
  refuse_model(R"("activation_dropout": 1e300)", "activation_dropout 1e+300 is out of range");
  CHECK(read_model(demo(R"("dropout": 0)")).config.dropout == 0.0F);
  refuse_model(R"("dropout": 0.9999999999)",
               "dropout 0.9999999999 is 1 as a 32-bit float; use a number from 0 to below 1");
  refuse_model(R"("dropout": 1e-300)",
               "dropout 1e-300 is 0 as a 32-bit float; use a number from 0 to below 1");
}

TEST_CASE("shared and separate embeddings as transformers ties them") {
  const ModelRead ignored = read_model(demo(R"("decoder_vocab_size": 50)"));
  CHECK(ignored.config.decoder_vocab_size == 40);
  REQUIRE(ignored.notes.size() == 1);
  CHECK(ignored.notes[0].find("decoder_vocab_size 50 is ignored") != std::string::npos);
  CHECK(read_model(demo(R"("decoder_vocab_size": null)")).config.decoder_vocab_size == 40);
  // Untying the output unties all three tables in transformers 5.
  const ModelConfig untied = read_model(demo(R"("tie_word_embeddings": false)")).config;
  CHECK_FALSE(untied.share_embeddings);
  CHECK_FALSE(untied.tie_word_embeddings);
  refuse_model(R"("tie_word_embeddings": false, "decoder_vocab_size": 50)",
               "decoder_vocab_size 50 differs from vocab_size 40, but the embeddings are shared");
}

TEST_CASE("experiments are strict and leave the vocabulary to the tokenizer") {
  const ModelConfig config =
      model_of_experiment(R"({"d_model": 12, "encoder_attention_heads": 5})");
  CHECK(config.vocab_size == 0);
  CHECK(config.decoder_vocab_size == 0);
  CHECK(config.encoder_heads == 5);  // --heads may still change the number of heads
  const ModelConfig sized = model_of_experiment(R"({"vocab_size": 40})");
  CHECK(sized.pad_token_id == 39);
  CHECK(sized.decoder_start_token_id == 39);
  CHECK(model_of_experiment(R"({"vocab_size": 40, "pad_token_id": 3})").decoder_start_token_id ==
        3);
  check_error([] { model_of_experiment(R"({"d_modle": 12})"); }, ExitCode::input,
              "x.json: unknown key \"d_modle\" in model; the nearest known one is \"d_model\"");
  check_error([] { model_of_experiment(R"({"d_model": 1e30})"); }, ExitCode::input,
              "x.json: model.d_model 1e+30 is beyond the limit of 65536");
  check_error([] { model_of_experiment(R"({"d_model": 12.5})"); }, ExitCode::input,
              "x.json: model.d_model is 12.5; expected an integer");
  check_error([] { model_of_experiment("[]"); }, ExitCode::input,
              "x.json: model: expected a JSON object");
}

TEST_CASE("the model type of an experiment follows from what it computes") {
  CHECK(model_of_experiment("{}").model_type == "marian");
  const ModelConfig pegasus = model_of_experiment(R"({"model_type": "pegasus"})");
  CHECK(pegasus.normalize_before);
  CHECK(pegasus.add_final_layer_norm);
  CHECK(model_of_experiment(R"({"normalize_before": true, "add_final_layer_norm": true})")
            .model_type == "pegasus");
  CHECK(model_of_experiment(R"({"normalize_before": true})").model_type == "attn-demo");
  CHECK(model_of_experiment(R"({"scale_attention": false})").model_type == "attn-demo");
  CHECK(model_of_experiment(R"({"normalize_embedding": true})").model_type == "attn-demo");
  // Pegasus has only one vocabulary.
  CHECK(
      model_of_experiment(R"({"model_type": "attn-demo", "normalize_before": true, "vocab_size": 9,
      "add_final_layer_norm": true, "share_encoder_decoder_embeddings": false})")
          .model_type == "attn-demo");
  check_error([] { model_of_experiment(R"({"model_type": "marian", "normalize_before": true})"); },
              ExitCode::input, "model.model_type is \"marian\", but that class does not compute");
}

TEST_CASE("validate names canonical keys and the place") {
  ModelConfig config;
  config.d_model = 12;
  config.encoder_heads = 5;
  check_error([&] { attn::validate(config, "--heads"); }, ExitCode::input,
              "--heads: d_model 12 is not divisible by encoder_attention_heads 5; use 1, 2, 3, 4");
  config = ModelConfig();
  config.vocab_size = 0;
  check_error([&] { attn::validate(config, "x"); }, ExitCode::input, "x: vocab_size is 0");
  config = ModelConfig();
  config.attention_dropout = 1;
  check_error([&] { attn::validate(config, "x"); }, ExitCode::input,
              "x: attention_dropout 1 is out of range; use a number from 0 to below 1");
}

TEST_CASE("parameters are counted as PyTorch counts them") {
  // The number is from MarianMTModel(MarianConfig(vocab_size=8000, d_model=256, encoder_layers=3,
  // decoder_layers=3, encoder_attention_heads=4, …, encoder_ffn_dim=1024, decoder_ffn_dim=1024)):
  // sum(p.numel() for p in model.parameters() if p.requires_grad), transformers 5.23.
  CHECK(attn::count_parameters(ModelConfig()) == 7'577'600);
  // The demo, computed by hand: attention 4·(144 + 12) = 624, feed-forward 2·12·48 + 48 + 12 =
  // 1,212, norm 24; encoder layer 624 + 1,212 + 48, decoder layer 2·624 + 1,212 + 72; embedding
  // 41·12.
  ModelConfig demo;
  demo.d_model = 12;
  demo.encoder_heads = demo.decoder_heads = 2;
  demo.encoder_ffn_dim = demo.decoder_ffn_dim = 48;
  demo.vocab_size = demo.decoder_vocab_size = 41;
  CHECK(attn::count_parameters(demo) == 3 * 1'884 + 3 * 2'532 + 492);
  ModelConfig more = demo;
  more.static_positions = false;
  more.normalize_embedding = more.add_final_layer_norm = true;
  more.share_embeddings = more.tie_word_embeddings = false;
  more.decoder_vocab_size = 30;
  CHECK(attn::count_parameters(more) ==
        3 * 1'884 + 3 * 2'532 + 492 + 2 * 512 * 12 + 4 * 24 + 2 * 30 * 12);
  more.d_model = more.encoder_layers = 2'000'000'000;
  CHECK_FALSE(attn::count_parameters(more).has_value());
}

TEST_CASE("what is written as config.json is read back the same") {
  ModelConfig config;
  config.normalize_before = config.add_final_layer_norm = true;
  config.encoder_layers = 2;
  config.decoder_heads = 8;
  config.activation = attn::Activation::swish;
  config.static_positions = false;
  config.pad_token_id = config.decoder_start_token_id = 7999;
  config.eos_token_id = 3;
  const Json json = attn::to_config_json(config);
  CHECK(json["model_type"] == "pegasus");
  CHECK(json["architectures"][0] == "PegasusForConditionalGeneration");
  CHECK(json["dropout"].dump() == "0.1");
  CHECK(json["forced_eos_token_id"] == 3);
  const ModelRead back = read_model(json.dump());
  CHECK(back.notes.empty());
  CHECK(attn::to_config_json(back.config) == json);
  config.scale_attention = false;
  config.normalize_embedding = true;
  const Json own = attn::to_config_json(config);
  CHECK(own["model_type"] == "attn-demo");
  CHECK(attn::to_config_json(read_model(own.dump()).config) == own);
}

TEST_CASE("the golden models' config.json files are read without notes") {
  const std::filesystem::path models =
      std::filesystem::path(ATTN_SOURCE_DIR) / "tests" / "golden" / "models";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    const std::string path = entry.path() / "config.json";
    if (!attn::file_exists(path)) continue;
    CAPTURE(path);
    const Json json = attn::read_json_file(path);
    std::vector<std::string> unknown;
    std::vector<std::string> notes;
    const ModelConfig config = attn::model_config_from_directory(json, path, unknown, notes);
    CHECK(json["model_type"] == config.model_type);
    CHECK(notes.empty());
    // The config that is written back has the same class.
    CHECK(attn::to_config_json(config)["model_type"] == json["model_type"]);
    ++seen;
  }
  CHECK(seen >= 12);
}
