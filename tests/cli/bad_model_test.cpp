// Tests model directories with missing or damaged files.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bad_input.h"

namespace attn::test {
namespace {

constexpr const char* kShared = "model.shared.weight";
constexpr const char* kQuery = "model.encoder.layers.1.self_attn.q_proj.weight";
constexpr const char* kBias = "model.encoder.layers.1.self_attn.q_proj.bias";

using Damage = std::function<void(ModelFiles&)>;

/// Returns a damaged copy of the good model, with which translate is run.
BadCase damaged(const std::string& name, const std::vector<std::string>& parts,
                const Damage& damage, int code = kInput) {
  return {name,
          {"translate", "--model", "{dir}/m", "The group went home"},
          code,
          parts,
          [damage](const TemporaryDirectory& scene) {
            ModelFiles model = ModelFiles::good();
            damage(model);
            model.write(scene, "m");
          }};
}

BadCase without(const std::string& file) {
  return damaged("without " + file, {"{dir}/m/" + file, "model directory"},
                 [file](ModelFiles& model) { model.files.erase(file); });
}

BadCase with_bytes(const std::string& name, const std::string& file, const std::string& bytes,
                   const std::vector<std::string>& parts) {
  std::vector<std::string> all = parts;
  all.push_back("{dir}/m/" + file);
  return damaged(name, all, [file, bytes](ModelFiles& model) { model.files[file] = bytes; });
}

BadCase with_key(const std::string& name, const std::string& file, const std::string& key,
                 const Json& value, const std::vector<std::string>& parts) {
  std::vector<std::string> all = parts;
  all.push_back("{dir}/m/" + file);
  return damaged(name, all, [file, key, value](ModelFiles& m) { m.set(file, key, value); });
}

BadCase with_tensors(const std::string& name, const std::vector<std::string>& parts,
                     const std::function<void(Tensors&)>& damage) {
  std::vector<std::string> all = parts;
  all.emplace_back("{dir}/m/model.safetensors");
  return damaged(name, all, [damage](ModelFiles& model) {
    Tensors tensors = Tensors::of(model);
    damage(tensors);
    tensors.store(model);
  });
}

/// Returns the good model with this header text before the data of model.safetensors.
BadCase with_header(const std::string& name, const std::vector<std::string>& parts,
                    const std::function<std::string(const std::string&)>& change) {
  return damaged(name, parts, [change](ModelFiles& model) {
    const Tensors tensors = Tensors::of(model);
    model.files["model.safetensors"] =
        safetensors_bytes(change(tensors.header.dump()), tensors.data);
  });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the undamaged model translates") {
  const TemporaryDirectory scene;
  const std::string directory = ModelFiles::good().write(scene, "m");
  const Result result =
      run_program({.args = {"translate", "--model", directory, "The group went home"}});
  CHECK(result.code == 0);
  CHECK(errors_of(result).empty());
  CHECK(result.out != "");
}

TEST_CASE("bad input: model directories with a file missing") {
  check_all({
      without("config.json"),
      without("model.safetensors"),
      without("source.spm"),
      without("target.spm"),
      without("vocab.json"),
      damaged("empty directory", {"{dir}/m/config.json", "missing", "model.safetensors"},
              [](ModelFiles& model) { model.files.clear(); }),
      damaged("PyTorch's file and no archive",
              {"{dir}/m/pytorch_model.bin", "no end of a zip archive"},
              [](ModelFiles& model) {
                model.files.erase("model.safetensors");
                model.files["pytorch_model.bin"] = "x";
              }),
      damaged("an index without its shard",
              {"{dir}/m/1.safetensors", "missing", "index.json names"},
              [](ModelFiles& model) {
                model.files.erase("model.safetensors");
                model.files["model.safetensors.index.json"] =
                    R"({"weight_map": {"a": "1.safetensors"}})";
              }),
      damaged("an index that leads elsewhere", {"index.json", "file of the same directory"},
              [](ModelFiles& model) {
                model.files.erase("model.safetensors");
                model.files["model.safetensors.index.json"] =
                    R"({"weight_map": {"a": "../m/1.safetensors"}})";
              }),
      damaged("separate vocabularies without the second",
              {"{dir}/m/target_vocab.json", "model directory"},
              [](ModelFiles& m) { m.set("tokenizer_config.json", "separate_vocabs", true); }),
      {"no such directory",
       {"translate", "--model", "{dir}/none", "x"},
       kSystem,
       {"{dir}/none", "no such"}},
      {"inspect of an empty directory",
       {"inspect", "--model", "{dir}"},
       kInput,
       {"{dir}/config.json", "missing"}},
  });
}

TEST_CASE("bad input: config.json of a model directory") {
  const std::string file = "config.json";
  check_all({
      with_bytes("config.json empty", file, "", {"found no text"}),
      with_bytes("config.json cut short", file, "{\"model_type\": \"marian\"", {":1:"}),
      with_bytes("config.json with a mark", file, "\xef\xbb\xbf{}", {"byte-order mark"}),
      with_bytes("config.json a list", file, "[1]", {"JSON object"}),
      with_bytes("config.json garbage", file,
                 "\x7f"
                 "ELF\x02\x01\x1b[2J",
                 {":1:1"}),
      with_bytes("config.json without keys", file, "{}", {"model_type is missing", "marian"}),
      with_bytes("config.json with a key twice", file,
                 "{\"model_type\": \"marian\", \"model_type\": \"marian\"}", {"a second time"}),
      with_key("model_type bert", file, "model_type", "bert", {"\"bert\"", "marian, pegasus"}),
      with_key("heads that do not divide", file, "encoder_attention_heads", 5,
               {"d_model 12", "encoder_attention_heads 5", "1, 2, 3, 4, 6 or 12"}),
      with_key("d_model zero", file, "d_model", 0, {"d_model is 0"}),
      with_key("d_model of 2^40", file, "d_model", std::uint64_t{1} << 40, {"EB of weights"}),
      with_key("d_model a string", file, "d_model", "12", {"d_model is \"12\"", "integer"}),
      damaged("a thousand layers and few tensors", {"{dir}/m/model.safetensors", "1002 layers"},
              [](ModelFiles& model) { model.set("config.json", "encoder_layers", 1000); }),
      with_key("pad beyond the vocabulary", file, "pad_token_id", 133, {"pad_token_id 133"}),
      with_key("negative end", file, "eos_token_id", -1, {"eos_token_id -1", "0 to 132"}),
      with_key("unknown activation", file, "activation_function", "mish", {"\"mish\"", "gelu"}),
  });
}

TEST_CASE("bad input: bytes of model.safetensors") {
  const std::string file = "model.safetensors";
  const auto length = [](std::uint64_t n) { return safetensors_bytes(std::string(n, ' '), ""); };
  check_all({
      with_bytes("weights empty", file, "", {"found 0 bytes"}),
      with_bytes("weights of seven bytes", file, "1234567", {"found 7 bytes"}),
      with_bytes("weights a text", file, "<!DOCTYPE html><html>", {"header length"}),
      with_bytes("header length beyond the file", file, std::string("\xff\0\0\0\0\0\0\0{}", 10),
                 {"header length 255", "complete"}),
      with_bytes("header length of 2^63", file, std::string("\0\0\0\0\0\0\0\x80{}", 10),
                 {"header length 9223372036854775808"}),
      with_bytes("header length zero", file, length(0), {"begins with nothing"}),
      with_bytes("header of blanks", file, length(8), {"begins with ' '"}),
      damaged("last byte missing", {"complete"},
              [](ModelFiles& m) { m.files["model.safetensors"].pop_back(); }),
      damaged("half of it missing", {"complete"},
              [](ModelFiles& m) { m.files["model.safetensors"].resize(20'000); }),
      damaged("cut in the header", {"header length", "complete"},
              [](ModelFiles& m) { m.files["model.safetensors"].resize(100); }),
      damaged("a byte too many", {"1 byte after the last tensor's end"},
              [](ModelFiles& m) { m.files["model.safetensors"] += 'x'; }),
      with_header("header cut", {"(header)"}, [](const std::string& h) { return h.substr(0, 40); }),
      with_header("header not JSON", {"(header)"},
                  [](const std::string&) { return std::string("{nonsense}"); }),
      with_header("header of invalid UTF-8", {"(header)"},
                  [](const std::string& h) {
                    return replaced(h, "model",
                                    "m\xff"
                                    "del");
                  }),
      with_header("name twice", {"a second time"},
                  [](const std::string& h) { return replaced(h, "{", "{\"a\":1,\"a\":1,"); }),
      with_header("nested deeply", {"nested deeper"},
                  [](const std::string&) { return "{\"a\":" + std::string(100'000, '['); }),
  });
}

TEST_CASE("bad input: tensors of model.safetensors") {
  check_all({
      with_tensors("overlap", {kQuery, "inside the tensor before it"},
                   [](Tensors& t) {
                     const std::size_t size = t.end(kQuery) - t.begin(kQuery);
                     const std::size_t from = t.begin(kQuery) - 4;
                     t.tensor(kQuery)["data_offsets"] = {from, from + size};
                   }),
      with_tensors("hole", {"leaves a hole"},
                   [](Tensors& t) {
                     t.data += "1234";
                     std::size_t last = 0;
                     for (auto& [name, entry] : t.header.items()) {
                       if (name != "__metadata__") last = std::max(last, t.end(name));
                     }
                     for (auto& [name, entry] : t.header.items()) {
                       if (name == "__metadata__" || t.end(name) != last) continue;
                       entry["data_offsets"] = {t.begin(name) + 4, last + 4};
                     }
                   }),
      with_tensors("shape whose product wraps", {kQuery, "more elements than 64 bits"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {std::uint64_t{1} << 33, std::uint64_t{1} << 33};
                   }),
      with_tensors("shape whose bytes wrap", {kQuery, "more bytes than 64 bits"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {std::uint64_t{1} << 62, 1};
                   }),
      with_tensors("negative dimension", {kQuery, "-12"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {-12, -12};
                   }),
      with_tensors("fractional dimension", {kQuery, "12.5"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {12.5, 12};
                   }),
      with_tensors("shape a string", {kQuery, "shape"},
                   [](Tensors& t) { t.tensor(kQuery)["shape"] = "12x12"; }),
      with_tensors("unknown dtype", {kQuery, "'F31'", "BF16"},
                   [](Tensors& t) { t.tensor(kQuery)["dtype"] = "F31"; }),
      with_tensors("dtype with an escape sequence", {kQuery, "dtype"},
                   [](Tensors& t) { t.tensor(kQuery)["dtype"] = "\x1b[31m"; }),
      with_tensors("integers for weights", {kQuery, "I32", "F32, F16 or BF16"},
                   [](Tensors& t) { t.tensor(kQuery)["dtype"] = "I32"; }),
      with_tensors("bytes and shape that differ", {kQuery, "576"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {12, 13};
                   }),
      with_tensors("offsets the wrong way round", {kQuery, "before it"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["data_offsets"] = {t.end(kQuery), t.begin(kQuery)};
                   }),
      with_tensors("offsets beyond the file", {kQuery, "complete"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["data_offsets"] = {0, std::uint64_t{1} << 50};
                   }),
      with_tensors("negative offset", {kQuery, "-4"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["data_offsets"] = {-4, 572};
                   }),
      with_tensors("tensor without a shape", {kQuery, "no shape"},
                   [](Tensors& t) { t.tensor(kQuery).erase("shape"); }),
      with_tensors("metadata a list", {"__metadata__"},
                   [](Tensors& t) {
                     t.header["__metadata__"] = {1, 2};
                   }),
      with_tensors("no tensors", {"tensors"},
                   [](Tensors& t) {
                     t.header = Json::object();
                     t.data.clear();
                   }),
      with_tensors("missing tensor",
                   {kQuery, "missing", "nearest", "model.encoder.layers.0.self_attn.q_proj.weight"},
                   [](Tensors& t) { t.remove(kQuery); }),
      with_tensors("misspelt tensor",
                   {kShared, "missing", "nearest present is model.shared.wieght"},
                   [](Tensors& t) {
                     const Json entry = t.tensor(kShared);
                     t.header.erase(kShared);
                     t.header["model.shared.wieght"] = entry;
                   }),
      with_tensors("missing embedding", {kShared, "missing"},
                   [](Tensors& t) { t.remove(kShared); }),
      with_tensors("shape of another config", {kQuery, "[6, 24]", "[12, 12]"},
                   [](Tensors& t) {
                     t.tensor(kQuery)["shape"] = {6, 24};
                   }),
      with_tensors("NaN", {kQuery, "nan", "element 17"},
                   [](Tensors& t) { t.set_float(kQuery, 17, std::nanf("")); }),
      with_tensors(
          "infinity", {kBias, "inf", "element 3"},
          [](Tensors& t) { t.set_float(kBias, 3, std::numeric_limits<float>::infinity()); }),
      with_tensors("minus infinity in the last weight of the embedding", {kShared, "-inf"},
                   [](Tensors& t) {
                     t.set_float(kShared, 12 * 133 - 1, -std::numeric_limits<float>::infinity());
                   }),
      with_tensors("infinite bias of the logits", {"final_logits_bias", "inf"},
                   [](Tensors& t) {
                     t.set_float("final_logits_bias", 5, -std::numeric_limits<float>::infinity());
                   }),
      damaged("weights of a wider config", {"shape", "[133, 12]", "[133, 24]"},
              [](ModelFiles& m) { m.set("config.json", "d_model", 24); }),
      damaged("weights of a smaller vocabulary", {"shape", "133", "140"},
              [](ModelFiles& m) {
                m.set("config.json", "vocab_size", 140);
                m.set("config.json", "decoder_vocab_size", 140);
              }),
      damaged("weights of fewer layers", {"model.encoder.layers.2", "missing", "nearest"},
              [](ModelFiles& m) { m.set("config.json", "encoder_layers", 3); }),
  });
}

}  // namespace attn::test
