#include "config/experiment.h"
#include "config/key_reader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/files.h"
#include "check_error.h"

using attn::ExitCode;
using attn::ExperimentConfig;
using attn::test::check_error;

namespace {

/// A folder for this test, removed at the end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("attn-experiment-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ExperimentConfig read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const std::string file = path_ / "x.json";
    attn::write_file(file, text);
    return attn::read_experiment(file, overrides);
  }
  std::string inside(const std::string& name) const { return path_ / name; }

  void refuse(const std::string& text, const std::string& message) {
    check_error([&] { read(text); }, ExitCode::input, message);
  }
  void refuse_set(const std::string& override, ExitCode code, const std::string& message) {
    check_error([&] { read(R"({"model": {"d_model": 12}})", {override}); }, code, message);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("an experiment file with every section and comments") {
  Folder folder;
  const ExperimentConfig config = folder.read(R"(// The demo.
{
  "model": {"d_model": 12, "encoder_attention_heads": 2},
  "tokenizer": {"type": "word", "vocab_size": 40, "joint": false},
    // Paths are relative to this file.
  "data": {"train": {"source": "toy/en.txt", "target": "../de.txt"},
           "test": {"source": "/abs/x"}, "probe": "The // group", "probe_target": "Die"},
  "train": {"updates": 3},
  "decode": {"num_beams": 4}
}
)");
  CHECK(config.model.d_model == 12);
  CHECK(config.tokenizer.type == "word");
  CHECK(config.tokenizer.vocab_size == 40);
  CHECK_FALSE(config.tokenizer.joint);
  CHECK_FALSE(config.tokenizer.byte_fallback);
  CHECK(config.tokenizer.sampling == 0);
  CHECK(config.data.train.source == folder.inside("toy/en.txt"));
  CHECK(config.data.train.target ==
        std::filesystem::path(folder.inside("")).parent_path().parent_path() / "de.txt");
  CHECK(config.data.test.source == "/abs/x");
  CHECK(config.data.dev.source.empty());
  CHECK(config.data.probe == "The // group");
  CHECK(config.data.probe_target == "Die");
  CHECK(config.train.updates == 3);
  CHECK(config.decode.num_beams == 4);
}

TEST_CASE("tokenizer.sampling goes with a type and with an existing tokenizer") {
  Folder folder;
  CHECK(folder.read(R"({"tokenizer": {"type": "unigram", "sampling": 0.2}})").tokenizer.sampling ==
        0.2);
  CHECK(folder.read(R"({"tokenizer": {"model": "m", "sampling": 10}})").tokenizer.sampling == 10);
  CHECK(folder.read(R"({"tokenizer": {"type": "word", "sampling": 0}})").tokenizer.sampling == 0);
}

TEST_CASE("comments keep the line numbers of messages") {
  Folder folder;
  folder.refuse("// one\n{\n// three\n \"model\": }\n", "x.json:4:");
  folder.refuse("{} // not a whole line\n", "x.json:1:");
  CHECK(folder.read("{}").model.d_model == 256);
}

TEST_CASE("unknown sections and keys name the nearest") {
  Folder folder;
  folder.refuse(R"({"modle": {}})",
                "x.json: unknown section \"modle\"; the nearest known one is \"model\"");
  folder.refuse(R"({"tokenizer": {"typ": "word"}})",
                "unknown key \"typ\" in tokenizer; the nearest known one is \"type\"");
  folder.refuse(R"({"data": {"training": {}}})",
                "unknown key \"training\" in data; the nearest known one is \"train\"");
  folder.refuse(R"({"data": {"train": {"sourse": "x"}}})",
                "unknown key \"sourse\" in data.train; the nearest known one is \"source\"");
  folder.refuse(R"({"model": {"\u001b[31m": 1}})", R"(unknown key "\u001b[31m" in model)");
}

TEST_CASE("what other programs call a key leads to it") {
  Folder folder;
  folder.refuse(R"({"model": {"heads": 3}})",
                "x.json: unknown key \"heads\" in model; its name here is "
                "encoder_attention_heads and decoder_attention_heads");
  folder.refuse(R"({"train": {"lr": 3}})",
                "x.json: unknown key \"lr\" in train; its name here is learning_rate");
  folder.refuse(R"({"model": {"lr": 3}})", "unknown key \"lr\" in model; the nearest known one");
}

TEST_CASE("--set of a size's other name") {
  Folder folder;
  const std::string text = R"({"model": {"d_model": 12, "encoder_attention_heads": 2}})";
  CHECK(folder.read(text, {"model.hidden_size=24"}).model.d_model == 24);
  CHECK(folder.read(R"({"model": {"hidden_size": 12}})", {"model.d_model=24"}).model.d_model == 24);
  CHECK(folder.read(R"({"model": {"num_attention_heads": 2}})", {"model.encoder_attention_heads=8"})
            .model.encoder_heads == 8);
  folder.refuse_set("model.num_attention_heads=3", ExitCode::usage,
                    "\"model.num_attention_heads=3\": num_attention_heads is another name of "
                    "encoder_attention_heads, which only sets the encoder; set "
                    "model.encoder_attention_heads, and model.decoder_attention_heads for the "
                    "decoder");
}

TEST_CASE("a path that leads to nothing is told with its config, its key and the rule") {
  Folder folder;
  const ExperimentConfig config =
      folder.read(R"({"data": {"train": {"source": "../a.txt"}}, "tokenizer": {"model": "."}})");
  attn::check_paths_exist(config, "tokenizer.");
  attn::check_paths_exist(config, "data.dev.");
  check_error([&] { attn::check_paths_exist(config, "data.train."); }, ExitCode::system,
              "x.json: data.train.source is \"../a.txt\", but ");
  check_error([&] { attn::check_paths_exist(config, "data.train."); }, ExitCode::system,
              "a.txt does not exist; paths, even in overrides, are relative to the config's "
              "folder, wherever the program runs");
}

TEST_CASE("wrong values of the other sections") {
  Folder folder;
  folder.refuse("[]", "x.json: expected a JSON object");
  folder.refuse(R"({"model": []})", "x.json: model: expected a JSON object");
  folder.refuse(R"({"train": 3})", "x.json: train: expected a JSON object");
  folder.refuse(R"({"tokenizer": {"type": "char"}})",
                "tokenizer.type \"char\" is not supported; use unigram, bpe or word");
  folder.refuse(R"({"tokenizer": {"vocab_size": 2}})", "tokenizer.vocab_size 2 is out of range");
  folder.refuse(R"({"tokenizer": {"type": "word", "byte_fallback": true}})",
                "tokenizer.byte_fallback needs a unigram or BPE tokenizer");
  folder.refuse(R"({"tokenizer": {"model": "m", "byte_fallback": true}})",
                "tokenizer.byte_fallback contradicts tokenizer.model");
  folder.refuse(R"({"tokenizer": {"joint": "yes"}})", "tokenizer.joint is \"yes\"; expected true");
  folder.refuse(R"({"tokenizer": {"model": "m", "type": "word"}})",
                "tokenizer.type contradicts tokenizer.model");
  folder.refuse(R"({"tokenizer": {"sampling": "no"}})", "tokenizer.sampling is \"no\"; expected a");
  folder.refuse(R"({"tokenizer": {"sampling": -0.1}})",
                "tokenizer.sampling -0.1 is out of range; use 0 (off) to 10");
  folder.refuse(R"({"tokenizer": {"sampling": 10.5}})", "tokenizer.sampling 10.5 is out of range");
  folder.refuse(R"({"tokenizer": {"type": "word", "sampling": 0.2}})",
                "tokenizer.sampling 0.2 needs a unigram or BPE tokenizer, but tokenizer.type is "
                "word; use 0, or change the type");
  folder.refuse(
      R"({"tokenizer": {"type": "bpe", "sampling": 1}})",
      "tokenizer.sampling 1 is not a probability of dropping a BPE merge; use 0 (off) to below 1");
  folder.refuse(R"({"data": {"train": {"source": ""}}})",
                "data.train.source is \"\"; expected a path");
  folder.refuse(R"({"data": {"probe": 1}})", "data.probe is 1; expected a string");
  check_error([] { attn::read_experiment("/nonexistent/x.json", {}); }, ExitCode::system,
              "/nonexistent/x.json");
}

TEST_CASE("what an override has spoilt is told with the override") {
  Folder folder;
  const auto refuse = [&](const std::string& override, const std::string& message) {
    folder.refuse_set(override, ExitCode::input, message);
    folder.refuse_set(override, ExitCode::input, " (set by the override " + override + ")");
  };
  refuse("train.learning_rate=.002",
         "x.json: train.learning_rate is \".002\"; expected a number (");
  refuse("model.heads=3", "x.json: unknown key \"heads\" in model; its name here is");
  refuse("model.d_model=0", "x.json: model.d_model is 0; it must be at least 1 (");
  refuse("model.decoder_attention={\"type\": \"linformer\"}",
         "x.json: model.decoder_attention.type \"linformer\" looks ahead");
  // Errors in the file itself do not name an override.
  const auto blameless = [&](const std::string& text, const std::string& override) {
    try {
      folder.read(text, {override});
      FAIL("no error");
    } catch (const attn::InputError& error) {
      CHECK(std::string(error.what()).find("override") == std::string::npos);
    }
  };
  blameless(R"({"model": {"d_modell": 1}})", "model.d_model=24");
  blameless("[]", ".=1");
  blameless(R"({"train": {"learning_rate": 0}})", "train.learning=1");
  folder.refuse_set("model.encoder_attention={\"type\": \"performer\", \"m\": }", ExitCode::usage,
                    "value:1:28: found '}', expected a value");
  folder.refuse_set("model.encoder_attention=[1", ExitCode::usage, "value:1:3: found ");
}

TEST_CASE("overrides work before anything is checked") {
  Folder folder;
  const std::string text = R"({"model": {"d_model": "bad", "dropout": 0.3}})";
  const ExperimentConfig config =
      folder.read(text, {"model.d_model=24", "model.activation_function=gelu",
                         "data.train.source=a.txt", "model.d_model=36", "data.probe=a=b",
                         "decode.early_stopping=never", "model.scale_embedding=false"});
  CHECK(config.model.d_model == 36);
  CHECK(config.model.dropout == 0.3F);
  CHECK(config.model.activation == attn::Activation::gelu);
  CHECK_FALSE(config.model.scale_embedding);
  CHECK(config.data.train.source == folder.inside("a.txt"));
  CHECK(config.data.probe == "a=b");
  CHECK(config.decode.early_stopping == attn::EarlyStopping::never);
}

TEST_CASE("malformed overrides are wrong usage, bad values bad input") {
  Folder folder;
  const std::string expected = "expected section.key=value";
  folder.refuse_set("model.d_model", ExitCode::usage, expected);
  folder.refuse_set("d_model=3", ExitCode::usage, expected);
  folder.refuse_set(".d_model=3", ExitCode::usage, expected);
  folder.refuse_set("model.=3", ExitCode::usage, expected);
  folder.refuse_set("model..x=3", ExitCode::usage, expected);
  folder.refuse_set("=3", ExitCode::usage, expected);
  folder.refuse_set("", ExitCode::usage, expected);
  folder.refuse_set("model.d_model.x=3", ExitCode::usage,
                    "\"model.d_model\" is 12 and has no keys inside");
  folder.refuse_set("model.d_model=010", ExitCode::input,
                    "model.d_model is \"010\"; expected an integer");
  folder.refuse_set("model.d_modell=3", ExitCode::input, "the nearest known one is \"d_model\"");
  folder.refuse_set("nodel.d_model=3", ExitCode::input, "unknown section \"nodel\"");
}

TEST_CASE("nearest takes what begins so, then the smallest edit distance, the first of equals") {
  CHECK(attn::nearest_word("d_modle", {"decoder_layers", "d_model"}) == "d_model");
  CHECK(attn::nearest_word("ab", {"aX", "aY"}) == "aX");
  CHECK(attn::nearest_word("bart", {"t5-base", "bart-large", "bart-base"}) == "bart-base");
  CHECK(attn::nearest_word("", {"abc", "a"}) == "a");
  CHECK(attn::nearest_word("x", {}).empty());
  CHECK(attn::nearest_word(std::string(1'000'000, 'x'), {"abc", "x"}) == "x");
}
