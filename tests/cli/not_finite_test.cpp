// Tests finite weights whose matrix products overflow: no command presents NaN or infinity as a
// result.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

/// Returns the demo's model with a tensor filled with one number.
ModelFiles filled(const std::string& tensor, float value) {
  ModelFiles model = ModelFiles::good();
  Tensors tensors = Tensors::of(model);
  const std::size_t count = (tensors.end(tensor) - tensors.begin(tensor)) / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) tensors.set_float(tensor, i, value);
  tensors.store(model);
  return model;
}

/// Returns the demo's model with a norm that multiplies by 3e38.
ModelFiles overflowing(const std::string& norm) {
  return filled(norm, 3e38F);
}

/// Returns the demo's model with one number changed.
ModelFiles changed(const std::string& tensor, std::size_t element, float value) {
  ModelFiles model = ModelFiles::good();
  Tensors tensors = Tensors::of(model);
  tensors.set_float(tensor, element, value);
  tensors.store(model);
  return model;
}

}  // namespace

TEST_CASE("logits that are not finite end every command with one line that names the model") {
  const TemporaryDirectory scene;
  const std::string model =
      overflowing("model.decoder.layers.1.final_layer_norm.weight").write(scene, "m");
  const std::string text = scene.file("text");
  std::ofstream(text) << "The group went home\n";
  const std::string sentence = "The group went home";
  const std::vector<std::vector<std::string>> commands = {
      {"translate", sentence},
      {"translate", "--json", "-", sentence},
      {"translate", "--beam", "3", "--n-best", "2", sentence},
      {"translate", "--beam", "3", "--json", "-", sentence, sentence, sentence},
      {"translate", "--threads", "2", sentence, "home", "went home"},
      {"translate", "--target", "Die Gruppe", "--json", "-", sentence},
      {"translate", "--max-length", "1", sentence},
      {"translate", "--without", "cross:1", "--json", "-", sentence},
      {"explain", "--kind", "encoder", sentence},
      {"evaluate", "--source", text, "--target", text},
  };
  for (std::vector<std::string> args : commands) {
    args.insert(args.begin() + 1, {"--model", model});
    CAPTURE(args);
    const Result result = run_program({.args = args});
    CHECK(result.code == 3);
    CHECK(result.out.empty());
    const std::string line = "attn-demo: " + model +
                             ": the logits of token 1 are not finite; the weights are too large "
                             "for 32-bit floats\n";
    CHECK_MESSAGE(result.err.ends_with(line), result.err);
  }
}

TEST_CASE("scores of attention below every float are no row of zeros") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  Tensors tensors = Tensors::of(model);
  const std::string query = "model.decoder.layers.1.self_attn.q_proj.bias";
  const std::string key = "model.decoder.layers.1.self_attn.k_proj.bias";
  for (std::size_t i = 0; i < 12; ++i) {
    tensors.set_float(query, i, 3e38F);
    tensors.set_float(key, i, -1e3F);
  }
  tensors.store(model);
  const std::string name = model.write(scene, "m");
  for (const std::string sink : {"-", "/dev/null"}) {
    const Result result = run_program({.args = {"translate", "--model", name, "--show", "none",
                                                "--json", sink, "The group went home"}});
    CHECK(result.code == 3);
    CHECK(result.out.empty());
    CHECK(result.err == "attn-demo: " + name +
                            ": the logits of token 1 are not finite; the weights are too large "
                            "for 32-bit floats\n");
  }
}

TEST_CASE("explain --meaning, which runs the encoder alone, takes no NaN for a cosine") {
  const TemporaryDirectory scene;
  const std::string model =
      overflowing("model.encoder.layers.0.final_layer_norm.weight").write(scene, "m");
  const Result result =
      run_program({.args = {"explain", "--model", model, "--meaning", "home", "--json",
                            scene.file("o.json"), "The group went home", "home"}});
  CHECK(result.code == 3);
  CHECK(result.out.empty());
  CHECK(result.err == "attn-demo: " + model +
                          ": the vectors after encoder layer 0 are not finite; the weights are too "
                          "large for 32-bit floats\n");
  CHECK(!std::filesystem::exists(scene.file("o.json")));
}

TEST_CASE("explain --compare takes no NaN for a difference") {
  const TemporaryDirectory scene;
  const std::string model =
      changed("model.encoder.layers.1.fc1.weight", 144, 3e38F).write(scene, "m");
  const Result result = run_program({.args = {"explain", "--model", model, "--compare", "--json",
                                              scene.file("o.json"), "The group went home"}});
  CHECK(result.code == 3);
  CHECK(result.out.empty());
  CHECK(result.err.ends_with("attn-demo: " + model +
                             ": numbers of the step “With and without positions” are not finite; "
                             "the weights are too large for 32-bit floats\n"));
  CHECK(!std::filesystem::exists(scene.file("o.json")));
}

TEST_CASE("what finite numbers make is a number: errors of large values, unlikely words") {
  const TemporaryDirectory scene;
  const std::string values =
      filled("model.encoder.layers.1.self_attn.v_proj.bias", 1e30F).write(scene, "values");
  const Result compared = run_program(
      {.args = {"explain", "--model", values, "--compare", "attention", "The group went home"}});
  CHECK(compared.code == 0);
  CHECK(compared.out.find("NaN") == std::string::npos);

  const std::string likely = changed("final_logits_bias", 66, 3e38F).write(scene, "likely");
  const Result swapped =
      run_program({.args = {"translate", "--model", likely, "--swap", "home=went", "--show", "none",
                            "The group went home"}});
  CHECK(swapped.code == 0);
  CHECK(swapped.out.find("</s>           −3.0e+38 −3.0e+38    0.000\n") != std::string::npos);
  CHECK(swapped.out.find("whole sentence −3.0e+38 −3.0e+38    0.000\n") != std::string::npos);
}

TEST_CASE("a length penalty whose power no float holds is refused, not a score of infinity") {
  for (const std::string beam : {"1", "3"}) {
    const Result result =
        run_program({.args = {"translate", "--seed", "1", "--beam", beam, "--length-penalty", "100",
                              "--json", "-", "The group went home"}});
    CHECK(result.code == 3);
    CHECK(result.out.empty());
    CHECK(result.err.find("length_penalty 100: ") != std::string::npos);
    CHECK(result.err.find("is beyond a 32-bit float; use one nearer to 0\n") != std::string::npos);
  }
}

TEST_CASE("a length penalty that no translation survives is refused, not an empty line") {
  const Result result = run_program(
      {.args = {"translate", "--length-penalty", "-20", "--show", "none", "The group went home"}});
  CHECK(result.code == 3);
  CHECK(result.out.empty());
  CHECK(result.err ==
        "attn-demo: length_penalty -20: every translation scores below -1e+09, the score of an "
        "empty beam; use one nearer to 0\n");
}

}  // namespace attn::test
