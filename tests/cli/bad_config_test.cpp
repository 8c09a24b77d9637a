// Tests experiment files with errors in them.
#include <doctest/doctest.h>

#include "bad_input.h"

namespace attn::test {
namespace {

/// Returns a config file with these bytes.
BadCase config(const std::string& name, const std::string& bytes,
               const std::vector<std::string>& parts, int code = kInput) {
  return {name,
          {"translate", "--config", "{dir}/config.json", "The group went home"},
          code,
          parts,
          [bytes](const TemporaryDirectory& scene) {
            scene.write("config.json", filled(bytes, scene));
          }};
}

/// Returns the demo's config with further keys in its model section.
BadCase model(const std::string& name, const std::string& keys,
              const std::vector<std::string>& parts, int code = kInput) {
  return config(name,
                "{\"model\": {\"d_model\": 12, \"encoder_attention_heads\": 2, "
                "\"decoder_attention_heads\": 2, \"encoder_ffn_dim\": 24, \"decoder_ffn_dim\": 24" +
                    (keys.empty() ? "" : ", " + keys) +
                    "}, \"tokenizer\": {\"model\": \"{tokenizer}\"}}",
                parts, code);
}

/// Returns the demo's config with one size of the model section set by --set.
BadCase size(const std::string& key, const std::string& value,
             const std::vector<std::string>& parts, int code = kInput) {
  return {key + " " + value,
          {"translate", "--config", "{demo}", "--set", "model." + key + "=" + value, "The group"},
          code,
          parts};
}

}  // namespace

TEST_CASE("bad input: config files that are not JSON objects") {
  check_all({
      config("empty file", "", {"{dir}/config.json", "found no text"}),
      config("comments only", "// nothing\n  // here\n", {"found no text"}),
      config("cut short", "{\"model\": {\"d_model\": 12,", {"{dir}/config.json:1:"}),
      config("trailing comma", "{\"model\": {},}", {"{dir}/config.json:1:"}),
      config("single quotes", "{'model': {}}", {"{dir}/config.json:1:2"}),
      config("text after the value", "{} {}", {"{dir}/config.json:1:"}),
      config("line of the fault", "{\n  \"model\": {\n    \"d_model\": twelve\n  }\n}", {":3:"}),
      config("line of the fault under comments", "// one\n{\n// two\n \"model\": ]\n}", {":4:"}),
      config("byte-order mark", "\xef\xbb\xbf{}", {"byte-order mark"}),
      config("UTF-16", std::string("\xff\xfe{\0}\0", 6), {"zero byte"}),
      config("invalid UTF-8", "{\"model\": {\"model_type\": \"\xff\"}}", {"{dir}/config.json:1:"}),
      config("escape sequences", "{\"\x1b[31mmodel\": {}}", {"{dir}/config.json:1:"}),
      config("deep nesting", std::string(100'000, '['), {"nested deeper"}),
      config("a list", "[]", {"JSON object", "[]"}),
      config("a number", "12", {"JSON object", "12"}),
      config("a string", "\"model\"", {"JSON object"}),
      config("null", "null", {"JSON object", "null"}),
      config("duplicate key", "{\"model\": {\"d_model\": 12, \"d_model\": 24}}",
             {"'d_model' a second time"}),
      config("duplicate section", "{\"model\": {}, \"model\": {}}", {"'model' a second time"}),
      config("NaN", "{\"model\": {\"dropout\": NaN}}", {"{dir}/config.json:1:"}),
      config("two megabytes", "{\"model\": {}}" + std::string(2'000'000, ' '), {"1.0 MB"}),
      {"a directory as config",
       {"translate", "--config", "{dir}", "x"},
       kSystem,
       {"{dir}", "is a directory"}},
      {"no such config",
       {"translate", "--config", "{dir}/none.json", "x"},
       kSystem,
       {"{dir}/none.json"}},
      {"config under a file",
       {"translate", "--config", "{demo}/config.json", "x"},
       kSystem,
       {"{demo}/config.json"}},
      {"a file as model", {"translate", "--model", "{demo}", "x"}, kSystem, {"{demo}"}},
      {"config name with an escape sequence",
       {"translate", "--config", "{dir}/\x1b[31m.json", "x"},
       kSystem,
       {"cannot"}},
      {"init from a broken config",
       {"init", "--config", "{dir}/config.json", "--out", "{dir}/m"},
       kInput,
       {"{dir}/config.json:1:"},
       [](const TemporaryDirectory& scene) { scene.write("config.json", "{"); }},
      {"inspect of a broken config",
       {"inspect", "--config", "{dir}/config.json"},
       kInput,
       {"{dir}/config.json:1:"},
       [](const TemporaryDirectory& scene) { scene.write("config.json", "}"); }},
  });
}

TEST_CASE("bad input: keys of config files") {
  check_all({
      config("unknown section", "{\"modle\": {}}", {"\"modle\"", "\"model\""}),
      config("section of the wrong type", "{\"model\": 12}", {"model", "JSON object", "12"}),
      config("section null", "{\"tokenizer\": null}", {"tokenizer", "null"}),
      config("train section a list", "{\"train\": []}", {"train", "[]"}),
      model("misspelt key", "\"encodr_layers\": 2", {"\"encodr_layers\"", "\"encoder_layers\""}),
      model("key of other programs", "\"n_heads\": 2",
            {"\"n_heads\"", "in model; its name here is encoder_attention_heads and decoder_"}),
      model("key with an escape sequence", "\"\\u001b[31m\": 2", {"unknown key", "nearest"}),
      model("key of a kilobyte", "\"" + std::string(1000, 'a') + "\": 2", {"unknown key", "..."}),
      model("unknown activation", "\"activation_function\": \"tanh\"", {"tanh", "relu, gelu"}),
      model("activation a number", "\"activation_function\": 1", {"expected a string"}),
      model("flag a number", "\"scale_embedding\": 1", {"scale_embedding is 1", "true or false"}),
      model("flag a string", "\"scale_embedding\": \"yes\"", {"scale_embedding", "true or false"}),
      model("size a string", "\"encoder_layers\": \"2\"", {"encoder_layers is \"2\"", "integer"}),
      model("size a list", "\"encoder_layers\": [2]", {"encoder_layers is [2]", "integer"}),
      model("size null", "\"encoder_layers\": null", {"encoder_layers is null", "integer"}),
      model("size a flag", "\"encoder_layers\": true", {"encoder_layers is true", "integer"}),
      model("dropout of one", "\"dropout\": 1", {"dropout 1", "0 to below 1"}),
      model("dropout below zero", "\"dropout\": -0.5", {"dropout -0.5", "0 to below 1"}),
      model("model_type of another kind", "\"model_type\": \"bert\"", {"\"bert\"", "marian"}),
      model("aliases that differ", "\"hidden_size\": 24", {"d_model", "hidden_size 24"}),
      model("vocabulary of another tokenizer", "\"vocab_size\": 500", {"vocab_size", "500"}),
      config("unknown key of tokenizer", "{\"tokenizer\": {\"modle\": \"x\"}}",
             {"\"modle\"", "in tokenizer", "\"model\""}),
      config("unknown type of tokenizer",
             "{\"tokenizer\": {\"type\": \"wordpiece\", \"vocab_size\": 100}}",
             {"wordpiece", "unigram, bpe or word"}),
      config("vocabulary of one piece", "{\"tokenizer\": {\"type\": \"bpe\", \"vocab_size\": 1}}",
             {"tokenizer.vocab_size", "3 to"}),
      config("tokenizer without text", "{\"tokenizer\": {\"type\": \"bpe\", \"vocab_size\": 50}}",
             {"data.train"}),
      config("no tokenizer at all", "{\"model\": {}}", {"{dir}/config.json", "tokenizer"}),
      config("tokenizer that is not there", "{\"tokenizer\": {\"model\": \"nowhere\"}}",
             {"{dir}/nowhere"}, kSystem),
      config("model path a number", "{\"tokenizer\": {\"model\": 3}}", {"tokenizer.model is 3"}),
      config("model path empty", "{\"tokenizer\": {\"model\": \"\"}}", {"tokenizer.model"}),
      config("train text that is not there",
             "{\"tokenizer\": {\"type\": \"bpe\", \"vocab_size\": 50}, \"data\": {\"train\": "
             "{\"source\": \"a.en\", \"target\": \"a.de\"}}}",
             {"{dir}/a.en"}, kSystem),
      config("unknown key of data", "{\"data\": {\"tain\": {}}}", {"\"tain\"", "\"train\""}),
      config("unknown key of decode", "{\"decode\": {\"num_beam\": 4}}",
             {"\"num_beam\"", "in decode", "\"num_beams\""}),
      config("beams a string", "{\"decode\": {\"num_beams\": \"4\"}}", {"decode.num_beams"}),
  });
}

TEST_CASE("bad input: patterns of attention") {
  const auto encoder = [](const std::string& name, const std::string& pattern,
                          const std::vector<std::string>& parts) {
    return model(name, "\"max_position_embeddings\": 64, \"encoder_attention\": " + pattern, parts);
  };
  check_all({
      encoder("odd window", R"({"type": "window", "window": 7})", {"window is 7", "6 or 8"}),
      encoder("no block", R"({"type": "chunks", "block_size": 0})", {"use 1 to 64"}),
      encoder("block beyond the positions", R"({"type": "chunks", "block_size": 65})",
              {"block_size is 65", "64 positions"}),
      encoder("blocks that do not fit", R"({"type": "bigbird", "block_size": 16})",
              {"block_size 16 does not fit", "at most 12"}),
      encoder("global beyond the positions",
              R"({"type": "longformer", "window": 8, "global": [64]})", {"position 64", "0 to 63"}),
      model("a kind that a decoder cannot have",
            R"("decoder_attention": {"type": "chunks", "block_size": 8})", {"looks ahead"}),
      model("positions of LED", R"("model_type": "led", "max_decoder_position_embeddings": 0)",
            {"max_decoder_position_embeddings is 0", "use 1 to"}),
      model("a pattern of ours in a published class",
            R"("model_type": "led", "encoder_attention": {"type": "window", "window": 8})",
            {"its name here is attention_window"}),
  });
}

TEST_CASE("bad input: sizes") {
  const std::string two_to_40 = "1099511627776";
  check_all({
      size("d_model", "0", {"model.d_model is 0", "at least 1"}),
      size("d_model", "-12", {"model.d_model is -12", "at least 1"}),
      size("d_model", "12.5", {"model.d_model is 12.5", "integer"}),
      size("d_model", "12.0", {"model.d_model", "integer"}),
      size("d_model", "1e1", {"model.d_model", "integer"}),
      size("d_model", two_to_40, {"model.d_model " + two_to_40, "65536", "EB of weights"}),
      size("d_model", "99999999999999999999999", {"model.d_model", "EB of weights"}),
      size("d_model", "-99999999999999999999999", {"model.d_model", "at least 1"}),
      size("encoder_layers", "0", {"model.encoder_layers is 0", "at least 1"}),
      size("encoder_layers", "1000000000", {"model.encoder_layers", "1000", "TB of weights"}),
      size("decoder_layers", "1000000000", {"model.decoder_layers", "TB of weights"}),
      size("encoder_attention_heads", "0", {"encoder_attention_heads is 0", "at least 1"}),
      size("decoder_attention_heads", "-2", {"decoder_attention_heads is -2", "at least 1"}),
      size("encoder_ffn_dim", "0", {"encoder_ffn_dim is 0"}),
      size("decoder_ffn_dim", two_to_40, {"decoder_ffn_dim " + two_to_40, "TB of weights"}),
      size("max_position_embeddings", "0", {"max_position_embeddings is 0"}),
      size("max_position_embeddings", two_to_40, {"max_position_embeddings", "limit"}),
      size("vocab_size", two_to_40, {"vocab_size " + two_to_40, "TB of weights"}),
      {"a billion layers by --layers",
       {"translate", "--config", "{demo}", "--layers", "1000000000", "The group"},
       kInput,
       {"layers 1000000000", "TB of weights"}},
      {"2^40 columns by --d-model",
       {"init", "--config", "{demo}", "--d-model", two_to_40, "--out", "{dir}/m"},
       kInput,
       {"d_model " + two_to_40, "EB of weights"}},
      {"inspect of a billion layers",
       {"inspect", "--config", "{demo}", "--layers", "1000000000"},
       kInput,
       {"layers 1000000000", "TB of weights"}},
      {"a preset with a billion layers",
       {"translate", "--preset", "t5-base", "--layers", "1000000000", "x"},
       kInput,
       {"layers 1000000000", "of weights"}},
      {"legal, and more than any memory",
       {"translate", "--config", "{demo}", "--d-model", "65536", "--layers", "1000", "The group"},
       kMemory,
       {"TB", "available"}},
      {"init of more than any memory",
       {"init", "--config", "{demo}", "--d-model", "65536", "--layers", "1000", "--out", "{dir}/m"},
       kMemory,
       {"TB", "available"}},
  });
}

}  // namespace attn::test
