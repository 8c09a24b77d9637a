// Multilingual models with random weights, and their translations.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bad_input.h"
#include "base/files/files.h"
#include "base/json.h"
#include "run_program.h"
#include "temporary_directory.h"

namespace attn::test {

inline const std::string kSource = ATTN_SOURCE_DIR;

/// A model of a class with random weights, and a tokenizer of tests/golden/languages.
struct LanguageScene {
  TemporaryDirectory directory;
  std::string model = directory.file("model");

  LanguageScene(const std::string& type, const std::string& tokenizer,
                const std::string& settings = "") {
    const bool of_marian = type == "marian";
    std::string files =
        kSource + "/tests/golden/" + (of_marian ? "tokenizer/" : "languages/") + tokenizer;
    if (!settings.empty()) {
      std::filesystem::copy(files, directory.file("tokenizer"));
      files = directory.file("tokenizer");
      write_file(files + "/tokenizer_config.json", settings);
    }
    const Json config{{"model",
                       {{"model_type", type},
                        {"d_model", 8},
                        {"encoder_layers", 1},
                        {"decoder_layers", 1},
                        {"encoder_attention_heads", 2},
                        {"decoder_attention_heads", 2},
                        {"encoder_ffn_dim", 8},
                        {"decoder_ffn_dim", 8}}},
                      {"tokenizer", {{"model", files}}}};
    write_file(directory.file("config.json"), config.dump());
    const Result made =
        run_program({.args = {"init", "--config", directory.file("config.json"), "--out", model}});
    REQUIRE_MESSAGE(made.code == kDone, made.err);
  }

  Result translate(std::vector<std::string> more, const std::string& text = "home") const {
    more.insert(more.begin(), {"translate", "--model", model, "--max-length", "5"});
    more.push_back(text);
    return run_program({.args = more});
  }
  Json record(std::vector<std::string> more) const {
    more.insert(more.end(), {"--json", "-"});
    const Result result = translate(std::move(more));
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return Json::parse(result.out);
  }
  void refused(std::vector<std::string> more, const std::string& message) const {
    const Result result = translate(std::move(more));
    CHECK(result.code == kUsage);
    CHECK_MESSAGE(result.err.find(message) != std::string::npos, result.err);
  }
};

inline std::vector<std::string> tokens(const Json& part) {
  return part["tokens"].get<std::vector<std::string>>();
}

}  // namespace attn::test
