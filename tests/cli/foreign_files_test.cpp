// Tests files of other programs in place of a model's, and git-lfs pointers: each error names the
// file and says what to do.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model_files.h"
#include "run_program.h"
#include "temporary_directory.h"

using namespace attn;
using namespace attn::test;

namespace {

using namespace std::string_literals;
namespace fs = std::filesystem;

/// Returns stderr of `translate --model MODEL`, which must exit with 3 and print nothing.
std::string refusal(const std::string& model) {
  const Result result = run_program({{"translate", "--model", model, "The group went home"}});
  CHECK(result.code == 3);
  CHECK(result.out.empty());
  return result.err;
}

}  // namespace

TEST_CASE("a git-lfs pointer is named in the place of every file of a model") {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') +
      "\nsize 12345\n";
  for (const char* name : {"model.safetensors", "config.json", "generation_config.json",
                           "source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}) {
    CAPTURE(name);
    const TemporaryDirectory scene;
    ModelFiles model = ModelFiles::good();
    model.files[name] = pointer;
    const std::string path = model.write(scene, "m");
    CHECK(refusal(path) == "attn-demo: " + path + "/" + name +
                               ": a git-lfs pointer; fetch the file with git lfs pull\n");
  }
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  model.files.erase("model.safetensors");
  model.files["pytorch_model.bin"] = pointer;
  CHECK(refusal(model.write(scene, "m")).find("pytorch_model.bin: a git-lfs pointer") !=
        std::string::npos);
}

TEST_CASE("a file that is no model directory is named for what it is") {
  const TemporaryDirectory scene;
  const std::string ctranslate2 = "\6\0\0\0\20\0TransformerSpec\0\7\0\0\0"s;
  const std::string marian = "\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"s + std::string(200, '\0');
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"m.gguf", "GGUF\3\0\0\0"s, "a GGUF file (llama.cpp)"},
      {"model.enes.intgemm.alphas.bin", "x", "a quantized model of Bergamot"},
      {"params.best", "x", "a model of Sockeye"},
      {"checkpoint_best.pt", "PK\3\4"s, "a checkpoint of fairseq"},
      {"model.ckpt-100.index", "x", "a checkpoint of TensorFlow 1"},
      {"openvino_model.xml", "<net/>", "an OpenVINO model"},
      {"adapter_config.json", "{}", "an adapter (LoRA)"},
      {"opus.zip", "PK\3\4"s, "an archive; unpack it"},
      {"weights.bin", "<!DOCTYPE html><html>", "a web page in the place of"},
      {"m.onnx", "\10\7\22\7pytorch", "an ONNX model"},
      {"m.argosmodel", "PK\3\4"s, "an Argos Translate package"},
      {"model.bin", ctranslate2, "a CTranslate2 model"},
      {"m.npz", "PK\3\4"s, "convert_marian_to_pytorch"},
      {"marian.bin", marian, "Marian's binary form"},
      {"tf_model.h5", "\x89HDF\r\n\x1a\n\0"s, "a TensorFlow checkpoint"},
      {"flax_model.msgpack", "\x81\xa5model", "from_flax=True"}};
  for (const auto& [name, bytes, words] : cases) {
    CAPTURE(name);
    const std::string file = scene.write(name, bytes);
    CHECK(refusal(file).find(file + ": " + (words.starts_with("a") ? words : "")) !=
          std::string::npos);
    CHECK(refusal(file).find(words) != std::string::npos);
    // With any config.json, and without one.
    for (const std::string config : {"", "{}", R"({"add_source_bos": false})"}) {
      const std::string folder = scene.file("d-" + name + std::to_string(config.size()));
      fs::create_directory(folder);
      fs::copy_file(file, folder + "/" + name);
      if (!config.empty()) scene.write(fs::path(folder).filename() / "config.json", config);
      const std::string said = refusal(folder);
      CHECK(said.find(name + " is a") != std::string::npos);
      CHECK(said.find(words) != std::string::npos);
    }
  }
}

TEST_CASE("a model whose weights have another program's form alone is named") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  model.files.erase("model.safetensors");
  model.files["tf_model.h5"] = "\x89HDF\r\n\x1a\n\0"s;
  CHECK(refusal(model.write(scene, "tf")).find("tf_model.h5 is a TensorFlow checkpoint") !=
        std::string::npos);
  // If there are readable weights, the file does not matter.
  model.files["model.safetensors"] = ModelFiles::good().files.at("model.safetensors");
  CHECK(run_program({{"translate", "--model", model.write(scene, "both"), "The group"}}).code == 0);
}

TEST_CASE("ByT5 is named") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  for (const char* name : {"source.spm", "target.spm", "vocab.json"}) model.files.erase(name);
  model.set("tokenizer_config.json", "tokenizer_class", "ByT5Tokenizer");
  CHECK(refusal(model.write(scene, "byt5")).find("a ByT5 model, whose tokens are bytes") !=
        std::string::npos);
  model.files.erase("model.safetensors");
  CHECK(refusal(model.write(scene, "without")).find("a ByT5 model, whose tokens are bytes") !=
        std::string::npos);
}

TEST_CASE("a CTranslate2 directory is named, whatever its model.bin holds") {
  const TemporaryDirectory scene;
  ModelFiles model;
  model.files["model.bin"] = "cut";
  CHECK(refusal(model.write(scene, "alone")).find("model.bin is a CTranslate2 model") !=
        std::string::npos);
  model.files["config.json"] = R"({"bos_token": "<s>", "eos_token": "</s>"})";
  CHECK(refusal(model.write(scene, "both")).find("model.bin is a CTranslate2 model") !=
        std::string::npos);
}

TEST_CASE("a missing id is called missing, and the class's default is not named") {
  for (const char* key : {"decoder_start_token_id", "pad_token_id"}) {
    CAPTURE(key);
    const TemporaryDirectory scene;
    ModelFiles model = ModelFiles::good();
    Json config = model.json("config.json");
    config.erase(key);
    model.files["config.json"] = config.dump();
    if (model.files.contains("generation_config.json")) {
      Json generation = model.json("generation_config.json");
      const Json given = generation.contains(key) ? generation[key] : Json(nullptr);
      generation.erase(key);
      model.files["generation_config.json"] = generation.dump();
    }
    const std::string said = refusal(model.write(scene, "m"));
    CHECK(said.find(std::string("config.json: ") + key + " is missing; expected the id") !=
          std::string::npos);
    CHECK(said.find("58100") == std::string::npos);
  }
  // Only generation_config.json may contain it, as in transformers.
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  Json config = model.json("config.json");
  const Json start = config["decoder_start_token_id"];
  config.erase("decoder_start_token_id");
  model.files["config.json"] = config.dump();
  model.set("generation_config.json", "decoder_start_token_id", start);
  CHECK(run_program({{"translate", "--model", model.write(scene, "m"), "The group"}}).code == 0);
}

TEST_CASE("options of other programs are answered with ours") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"translate", "x", "--model_name_or_path", "m"}, "did you mean --model?"},
      {{"translate", "x", "--output_attentions"}, "did you mean --show?"},
      {{"translate", "x", "--compute_type", "int8"}, "did you mean --precision?"},
      {{"translate", "x", "--max-batch-size", "3"}, "did you mean --batch?"},
      {{"train", "c.json", "--enc-depth", "3"}, "--set model.encoder_layers=VALUE sets it"},
      {{"train", "c.json", "--learn-rate", "3"}, "--set train.learning_rate=VALUE sets it"},
      {{"train", "c.json", "--num_train_epochs", "3"}, "--set train.epochs=VALUE sets it"},
      {{"translate", "x", "--beamsize", "3"}, "did you mean --beam?"},
      {{"translate", "x", "--tgt_prefix", "Die"}, "translate --help lists its options"},
      {{"translate", "x", "--format", "html"}, "did you mean --html-input?"},
      {{"serve", "--cors", "*"}, "did you mean --allow-origin?"},
      {{"train", "c.json", "--valid-freq", "3"}, "--set train.validate_every=VALUE sets it"},
      {{"train", "c.json", "--save-steps", "3"}, "--set train.checkpoint_every=VALUE sets it"},
      {{"translate", "x", "--tgt", "f"}, "did you mean --targets?"},
      {{"evaluate", "--source", "x", "--reference", "f"}, "did you mean --target?"},
      {{"convert", "--quantization", "int8"}, "did you mean --dtype?"}};
  for (const auto& [arguments, words] : cases) {
    CAPTURE(arguments[1] + " " + arguments[2]);
    const Result result = run_program({arguments});
    CHECK(result.code == 2);
    CHECK(result.err.find(words) != std::string::npos);
  }
}
