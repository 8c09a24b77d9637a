// Tests every common form of a model directory through the program.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "base/files/files.h"
#include "base/json.h"
#include "model_files.h"
#include "run_program.h"

using namespace attn;
using namespace attn::test;

namespace {

/// The demo's model as OWNER/NAME in a cache of huggingface_hub.
struct HubCache {
  HubCache() {
    std::filesystem::create_directories(root.file("models--some--model/refs/refs/pr"));
    std::filesystem::create_directories(root.file("models--some--model/snapshots"));
  }
  void add(const std::string& revision, const std::string& commit, const ModelFiles& model) const {
    if (!revision.empty()) root.write("models--some--model/refs/" + revision, commit);
    model.write(root, "models--some--model/snapshots/" + commit);
  }
  Result translate(const std::string& name) const {
    return run_program({.args = {"translate", "--model", name, "--show", "none", "home"},
                        .environment = {{"HF_HUB_CACHE", root.path()}}});
  }
  TemporaryDirectory root;
};

void check_refused(const Result& result, int code, const std::vector<std::string>& parts) {
  CHECK(result.code == code);
  for (const std::string& part : parts) {
    CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
  }
}

TEST_CASE("models of Hugging Face's cache: branches, pull requests and commits") {
  const HubCache cache;
  ModelFiles without = ModelFiles::good();
  without.files.erase("model.safetensors");
  cache.add("main", "aaa", without);
  cache.add("refs/pr/4", "bbb", ModelFiles::good());
  cache.add("", "ccc", ModelFiles::good());
  const Result expected = cache.translate("some/model@refs/pr/4");
  CHECK(expected.code == 0);
  CHECK(!expected.out.empty());
  for (const char* name : {"some/model@bbb", "some/model@ccc"}) {
    const Result result = cache.translate(name);
    CHECK_MESSAGE(result.code == 0, result.err);
    CHECK(result.out == expected.out);
  }
  check_refused(cache.translate("some/model"), 3,
                {"some/model: the cache has it without weights",
                 "and with weights some/model@ccc, some/model@refs/pr/4"});
  check_refused(cache.translate("some/model@v2"), 4,
                {"some/model@v2: no such revision in Hugging Face's cache",
                 "which has ccc, main, refs/pr/4; fetch it: hf download some/model --revision v2"});
  check_refused(cache.translate("some/other@v2"), 4,
                {"no such model in Hugging Face's cache", "hf download some/other --revision v2"});
  check_refused(cache.translate("some/model@../../etc"), 4, {"no such model directory"});
}

TEST_CASE("a cache without any weights") {
  const HubCache cache;
  ModelFiles without = ModelFiles::good();
  without.files.erase("model.safetensors");
  cache.add("main", "aaa", without);
  check_refused(cache.translate("some/model"), 3,
                {"without weights", "fetch them: hf download some/model --revision main"});
}

/// Returns the demo's model with `more` embedding rows beyond the entries of vocab.json.
ModelFiles padded_model(std::size_t more) {
  ModelFiles model = ModelFiles::good();
  const std::size_t pieces = model.json("vocab.json").size();
  Tensors tensors = Tensors::of(model);
  const std::size_t width = model.json("config.json")["d_model"];
  for (const auto& [name, columns] : {std::pair{std::string("model.shared.weight"), width},
                                      {std::string("final_logits_bias"), std::size_t{1}}}) {
    if (!tensors.header.contains(name)) continue;
    const std::string old(
        tensors.data.substr(tensors.begin(name), tensors.end(name) - tensors.begin(name)));
    std::string added(more * columns * sizeof(float), '\0');
    // Makes this row the likeliest of all if it may be chosen.
    const float high = 1000;
    if (columns == 1) {
      for (std::size_t i = 0; i < more; ++i) std::memcpy(added.data() + 4 * i, &high, 4);
    }
    Json entry = tensors.tensor(name);
    tensors.remove(name);
    entry["shape"] = columns == 1 ? Json{1, pieces + more} : Json{pieces + more, columns};
    entry["data_offsets"] = {tensors.data.size(), tensors.data.size() + old.size() + added.size()};
    tensors.data += old + added;
    tensors.header[name] = entry;
  }
  tensors.store(model);
  for (const char* key : {"vocab_size", "decoder_vocab_size"}) {
    model.set("config.json", key, pieces + more);
  }
  return model;
}

TEST_CASE("a row of the embedding without a piece neither wins nor ends the run") {
  const TemporaryDirectory scene;
  const std::string good = ModelFiles::good().write(scene, "good");
  const std::string padded = padded_model(59).write(scene, "padded");
  for (const char* beam : {"1", "4"}) {
    const auto translate = [&](const std::string& model) {
      return run_program({.args = {"translate", "--model", model, "--beam", beam, "--show", "none",
                                   "--json", scene.file("record"), "home"}});
    };
    const Result expected = translate(good);
    const Result result = translate(padded);
    CHECK_MESSAGE(result.code == 0, result.err);
    CHECK(result.out == expected.out);
  }
  const Result tree =
      run_program({.args = {"translate", "--model", padded, "--beam", "2", "home"}});
  CHECK_MESSAGE(tree.code == 0, tree.err);
}

TEST_CASE(
    "special_tokens_map.json that names other tokens: what is written loads and translates alike") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  const Json pieces = model.json("vocab.json");
  Json vocabulary = Json::object();
  for (const auto& [piece, id] : pieces.items()) {
    vocabulary[piece == "<pad>" ? "[PAD]" : piece] = id;
  }
  model.files["vocab.json"] = vocabulary.dump();
  Json settings = model.json("tokenizer_config.json");
  settings.erase("pad_token");
  model.files["tokenizer_config.json"] = settings.dump();
  model.files["special_tokens_map.json"] = R"({"pad_token": "[PAD]"})";
  model.files.erase("SHA256SUMS");
  const std::string directory = model.write(scene, "other");
  const auto translate = [&](const std::string& from) {
    return run_program({.args = {"translate", "--model", from, "--show", "none", "home"}});
  };
  const Result expected = translate(directory);
  CHECK_MESSAGE(expected.code == 0, expected.err);
  const std::string converted = scene.file("converted");
  const Result convert = run_program(
      {.args = {"convert", "--model", directory, "--out", converted, "--dtype", "float32"}});
  CHECK_MESSAGE(convert.code == 0, convert.err);
  CHECK(translate(converted).out == expected.out);
  const Json shape{{"d_model", 8},
                   {"encoder_layers", 1},
                   {"decoder_layers", 1},
                   {"encoder_attention_heads", 2},
                   {"decoder_attention_heads", 2},
                   {"encoder_ffn_dim", 8},
                   {"decoder_ffn_dim", 8}};
  write_file(scene.file("config.json"),
             Json{{"model", shape}, {"tokenizer", {{"model", directory}}}}.dump());
  const std::string made = scene.file("made");
  const Result init =
      run_program({.args = {"init", "--config", scene.file("config.json"), "--out", made}});
  CHECK_MESSAGE(init.code == 0, init.err);
  CHECK(read_file(made + "/special_tokens_map.json") ==
        read_file(directory + "/special_tokens_map.json"));
  CHECK(translate(made).code == 0);
}

}  // namespace
