// Tests directories of the published families: after loading, the same files are written.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "check_error.h"
#include "golden_model.h"
#include "model/directory/model_directory.h"
#include "model/directory/safetensors.h"
#include "model/incremental_decoder.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

std::vector<std::string> family_goldens() {
  std::vector<std::string> names;
  for (const std::string& name : golden_names()) {
    for (const std::string start :
         {"bart-", "mbart-", "m2m100-", "led-", "bigbird-", "pegasus-x-", "t5-", "mt5-", "umt5-"}) {
      if (name.starts_with(start)) names.push_back(name);
    }
  }
  return names;
}

std::map<std::string, std::vector<float>> tensors_of(const std::string& path) {
  const SafetensorsFile file(path);
  std::map<std::string, std::vector<float>> all;
  for (const TensorInfo& tensor : file.tensors()) {
    std::vector<float>& numbers = all[tensor.name];
    numbers.resize(to_size(tensor.elements));
    file.read(tensor, numbers.data());
  }
  return all;
}

/// Returns the logits of some target after the golden's longest source.
Matrix logits_of(const Transformer& model) {
  PackedTokens source = pack({{5, 7, 9, 4, 3, 11, 6, 2}});
  const EncodedSource encoded = model.encode(source);
  const Matrix hidden = model.decode(pack({{2, 8, 5}}), encoded);
  Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
  model.logits(hidden, logits);
  return logits;
}

TEST_CASE("a family's directory is written as it was read") {
  REQUIRE(family_goldens().size() >= 24);
  for (const std::string& name : family_goldens()) {
    CAPTURE(name);
    const GoldenModel golden(name);
    CHECK(golden.model.notes.empty());
    const TemporaryDirectory scene;
    const bool half = name.ends_with("f16");
    save_model(golden.model.transformer,
               resolve_decode_options(golden.model.decode, std::nullopt, name), scene.path(),
               half ? DType::f16 : DType::f32);
    auto before = tensors_of(golden_root() + "/" + name + "/model.safetensors");
    std::erase_if(before, [](const auto& tensor) { return tensor.second.empty(); });
    const auto after = tensors_of(scene.file("model.safetensors"));
    CHECK(before == after);
    const Json config = read_json_file(golden_root() + "/" + name + "/config.json");
    const Json written = read_json_file(scene.file("config.json"));
    for (const auto& item : config.items()) {
      const std::string& key = item.key();
      if (key == "architectures" || key == "bos_token_id") continue;
      if (key == "tie_word_embeddings" && name.find("t5-") != name.npos)
        continue;  // defined by the tensors
      CAPTURE(key);
      CHECK(written[key] == item.value());
    }
    const LoadedModel again = load_model(scene.path(), default_backend());
    CHECK(logits_of(again.transformer) == logits_of(golden.model.transformer));
  }
}

TEST_CASE("weights that stay in a file's 16 bits give the bits of widened ones") {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const std::string& name : family_goldens()) {
      CAPTURE(name);
      const GoldenModel golden(name);
      const DecodeConfig decode = resolve_decode_options(golden.model.decode, std::nullopt, name);
      const TemporaryDirectory narrow, wide;
      save_model(golden.model.transformer, decode, narrow.path(), dtype);
      const Transformer from_16 = load_model(narrow.path(), Backend::panels).transformer;
      save_model(from_16, decode, wide.path(), DType::f32);
      const Transformer from_32 = load_model(wide.path(), Backend::panels).transformer;
      const Parameter& embedding = from_16.parameters().encoder.embedding;
      CHECK(embedding.data == nullptr);
      CHECK(embedding.at(1, 2) == from_32.parameters().encoder.embedding.at(1, 2));
      CHECK(logits_of(from_16) == logits_of(from_32));
    }
  }
}

TEST_CASE("families have no directories of 8 bits, and compute with 8 bits all the same") {
  for (const std::string& name : family_goldens()) {
    CAPTURE(name);
    const GoldenModel golden(name, Backend::int8);
    const GoldenModel whole(name);
    const Matrix logits = logits_of(golden.model.transformer);
    const Matrix expected = logits_of(whole.model.transformer);
    CHECK(logits != expected);
    CHECK((logits - expected).norm() < 0.2F * expected.norm());
    const TemporaryDirectory scene;
    check_error(
        [&] { save_model(golden.model.transformer, DecodeConfig{}, scene.path(), DType::i8); },
        ExitCode::input,
        "cannot be stored in int8, which is for models with the layers of marian, pegasus and "
        "attn-demo; store it with dtype float16, and translate with it in int8");
  }
}

TEST_CASE(
    "Pegasus-X: a head that gets no weights hands nothing over, to its own global tokens either") {
  struct Off : AttentionObserver {
    void weights_ready(AttentionHead& head) override {
      if (head.layer != 0 || head.head != 1) return;
      head.weights.setZero();
      head.changed.add_all();
      std::fill(head.non_token_weights.weights.begin(), head.non_token_weights.weights.end(), 0.0F);
    }
  } off;
  const std::string name = "pegasus-x-chunks";
  const TemporaryDirectory scene;
  const SafetensorsFile file(golden_root() + "/" + name + "/model.safetensors");
  std::vector<TensorToWrite> tensors;
  for (const TensorInfo& tensor : file.tensors()) {
    const bool output = tensor.name == "model.encoder.layers.0.self_attn.out_proj.weight";
    tensors.push_back({tensor.name, tensor.shape, [&file, &tensor, output](float* out) {
                         file.read(tensor, out);
                         // [out, in]: head 1 of three has columns 4 to 7 of 12.
                         for (int i = 0; output && i < 12; ++i)
                           std::fill_n(out + 12 * i + 4, 4, 0.0F);
                       }});
  }
  write_safetensors(scene.file("model.safetensors"), tensors, DType::f32);
  std::filesystem::copy(golden_root() + "/" + name + "/config.json", scene.path());
  const LoadedModel without = load_model(scene.path(), default_backend());
  const GoldenModel golden(name);
  const PackedTokens source = pack({{5, 7, 9, 4, 3, 11, 6, 2}});
  const Matrix expected = without.transformer.encode(source).rows;
  const Matrix found = golden.model.transformer.encode(source, &off).rows;
  CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-6F);
  CHECK((golden.model.transformer.encode(source).rows - expected).cwiseAbs().maxCoeff() > 1e-3F);
}

TEST_CASE("padding in the middle of a translation has no place, and those behind it count it") {
  const Json goldens =
      read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/padding_within.json");
  REQUIRE(goldens.size() == 2);
  for (const Json& golden : goldens) {
    const auto name = golden["model"].get<std::string>();
    CAPTURE(name);
    const GoldenModel model(name);
    const Transformer& transformer = model.model.transformer;
    const auto ids = golden["decoder_input"].get<std::vector<int>>();
    const EncodedSource source =
        transformer.encode(pack({golden["source"].get<std::vector<int>>()}));
    const Matrix hidden = transformer.decode(pack({ids}), source);
    Matrix logits(hidden.rows(), transformer.config().decoder_vocab_size);
    transformer.logits(hidden, logits);
    IncrementalDecoder decoder(transformer);
    const std::vector<SlotSize> sizes{{1, std::ssize(ids)}};
    const std::vector<Index> slots = decoder.add_sentences(source, sizes);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const auto expected = golden["log_probs"][t].get<std::vector<double>>();
      const Index parent = 0;
      const MatrixRef step = decoder.step({&ids[t], 1}, {&parent, 1}, slots);
      const auto log_probs = [](const auto& row) {
        Eigen::ArrayXd x = row.template cast<double>().transpose();
        return Eigen::ArrayXd(x - x.maxCoeff() - std::log((x - x.maxCoeff()).exp().sum()));
      };
      const Eigen::ArrayXd whole = log_probs(logits.row(to_index(t)));
      const Eigen::ArrayXd cached = log_probs(step.row(0));
      for (std::size_t j = 0; j < expected.size(); ++j) {
        CHECK(whole[to_index(j)] == doctest::Approx(expected[j]).epsilon(1e-4));
        CHECK(cached[to_index(j)] == doctest::Approx(expected[j]).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("a file of the bare model, whose names begin later, loads, too") {
  const std::string name = "bart-3-heads";
  const TemporaryDirectory scene;
  std::vector<TensorToWrite> tensors;
  const SafetensorsFile file(golden_root() + "/" + name + "/model.safetensors");
  for (const TensorInfo& tensor : file.tensors()) {
    const bool inside = tensor.name.starts_with("model.");
    tensors.push_back({inside ? tensor.name.substr(6) : tensor.name, tensor.shape,
                       [&file, &tensor](float* out) { file.read(tensor, out); }});
  }
  write_safetensors(scene.file("model.safetensors"), tensors, DType::f32);
  std::filesystem::copy(golden_root() + "/" + name + "/config.json", scene.path());
  const LoadedModel bare = load_model(scene.path(), default_backend());
  CHECK(bare.notes.empty());
  CHECK(logits_of(bare.transformer) == logits_of(GoldenModel(name).model.transformer));
}

}  // namespace
}  // namespace attn::test
