// Tests attn-demo convert: writes a model in 8, 16 or 32 bits, with checksums.
#include <doctest/doctest.h>

#include <filesystem>

#include "bad_input.h"
#include "base/strings/sha256.h"
#include "train_run.h"

namespace attn::test {
namespace {

Result convert(const std::string& from, const std::string& to, const std::string& dtype) {
  return run_program({.args = {"convert", "--model", from, "--out", to, "--dtype", dtype}});
}

Json record_of(const std::string& model, const std::string& precision = "float32") {
  const Result result =
      run_program({.args = {"translate", "--model", model, "--precision", precision, "--json", "-",
                            "--target", "Die Gruppe ging nach Hause", "The group went home"}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  return Json::parse(result.out);
}

}  // namespace

TEST_CASE("convert halves a model and changes its numbers by no more than the rounding") {
  const TemporaryDirectory scene;
  const std::string model = ModelFiles::good().write(scene, "m");
  const Result result = convert(model, scene.file("half"), "float16");
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.out.find("float16, model.safetensors 2") != std::string::npos);
  CHECK(result.err == "");
  const auto whole = std::filesystem::file_size(model + "/model.safetensors");
  const auto half = std::filesystem::file_size(scene.file("half/model.safetensors"));
  CHECK(half < whole * 13 / 20);  // the header of such a small model stays the same size

  const Json before = record_of(model), after = record_of(scene.file("half"));
  CHECK(before["source"] == after["source"]);
  const Json& found = after["hypotheses"][0]["log_probs"];
  const Json& expected = before["hypotheses"][0]["log_probs"];
  REQUIRE(found.size() == expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(found[i].get<double>() - expected[i].get<double>()));
  }
  CHECK(largest < 0.05);
  CHECK(largest > 0);  // 11 of 24 bits remain: without a difference, nothing was converted
}

TEST_CASE("16 bits, widened to 32 and narrowed again, are the same files") {
  const TemporaryDirectory scene;
  for (const std::string dtype : {"float16", "bfloat16"}) {
    const std::string first = scene.file(dtype), wide = first + "-wide", second = first + "-again";
    REQUIRE(convert(ModelFiles::good().write(scene, "m" + dtype), first, dtype).code == kDone);
    REQUIRE(convert(first, wide, "float32").code == kDone);
    REQUIRE(convert(wide, second, dtype).code == kDone);
    CHECK(listing(first) == listing(second));
    for (const std::string& name : listing(first)) {
      CHECK_MESSAGE(bytes_of(first + "/" + name) == bytes_of(second + "/" + name), name);
    }
    CHECK(record_of(first)["hypotheses"] == record_of(wide)["hypotheses"]);
  }
}

TEST_CASE("8 bits from a file are the bits of 8 bits made while loading") {
  const TemporaryDirectory scene;
  const std::string model = ModelFiles::good().write(scene, "m"), eight = scene.file("eight");
  const Result result = convert(model, eight, "int8");
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.out.find("int8, model.safetensors ") != std::string::npos);
  CHECK(result.err == "");
  const Json config = read_json_file(eight + "/config.json");
  CHECK(config["model_type"] == "attn-demo");
  const Json made = record_of(model, "int8"), stored = record_of(eight, "int8");
  CHECK(made["hypotheses"] == stored["hypotheses"]);
  CHECK(made["encoder_self"] == stored["encoder_self"]);
  CHECK(stored["model"]["precision"] == "int8");
  const Json rounded = record_of(eight), whole = record_of(model);
  CHECK(!rounded["model"].contains("precision"));
  CHECK(rounded["hypotheses"][0]["log_probs"] != whole["hypotheses"][0]["log_probs"]);

  // Numbers that were rounded once do not change again: converted to 32 bits and back, the file is
  // the same.
  REQUIRE(convert(eight, scene.file("wide"), "float32").code == kDone);
  CHECK(read_json_file(scene.file("wide") + "/config.json")["model_type"] == "marian");
  REQUIRE(convert(scene.file("wide"), scene.file("again"), "int8").code == kDone);
  CHECK(bytes_of(eight + "/model.safetensors") == bytes_of(scene.file("again/model.safetensors")));
}

TEST_CASE("convert lists the digest of every file, and a damaged tokenizer is found") {
  const TemporaryDirectory scene;
  const std::string out = scene.file("half");
  REQUIRE(convert(ModelFiles::good().write(scene, "m"), out, "float16").code == kDone);
  std::string expected;
  for (const std::string& name : listing(out)) {
    if (name == "SHA256SUMS") continue;
    expected += sha256_hex(bytes_of(out + "/" + name)) + "  " + name + "\n";
  }
  CHECK(bytes_of(out + "/SHA256SUMS") == expected);
  CHECK(lines_of(expected).size() >= 6);

  std::string bytes = bytes_of(out + "/target.spm");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  scene.write("half/target.spm", bytes);
  const Result result = run_program({.args = {"translate", "--model", out, "The group"}});
  CHECK(result.code == kInput);
  CHECK(result.err.find("target.spm: its SHA-256 is") != std::string::npos);
}

TEST_CASE("what convert refuses") {
  const auto model = [](const TemporaryDirectory& scene) { ModelFiles::good().write(scene, "m"); };
  check_all({
      {"convert without --out", {"convert", "--model", "{dir}/m"}, kUsage, {"--out"}, model},
      {"convert without --model", {"convert", "--out", "{dir}/n"}, kUsage, {"--model"}},
      {"convert to an unknown type",
       {"convert", "--model", "{dir}/m", "--out", "{dir}/n", "--dtype", "int4"},
       kUsage,
       {"--dtype int4: expected float32, float16, bfloat16 or int8"},
       model},
      {"convert of nothing",
       {"convert", "--model", "{dir}/missing", "--out", "{dir}/n"},
       kSystem,
       {"missing"}},
      {"convert onto the model itself",
       {"convert", "--model", "{dir}/m", "--out", "{dir}/m"},
       kSystem,
       {"/m", "exists"},
       model},
      {"convert of a weight beyond float16",
       {"convert", "--model", "{dir}/m", "--out", "{dir}/n", "--dtype", "float16"},
       kInput,
       {"final_logits_bias"},
       [](const TemporaryDirectory& scene) {
         ModelFiles files = ModelFiles::good();
         Tensors tensors = Tensors::of(files);
         tensors.set_float("final_logits_bias", 3, -1e5F);
         tensors.store(files);
         files.write(scene, "m");
       }},
  });
}

}  // namespace attn::test
