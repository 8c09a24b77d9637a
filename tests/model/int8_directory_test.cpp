// Tests writing, reading and refusing int8 model directories.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "golden_model.h"
#include "model/directory/model_directory.h"
#include "model/directory/safetensors.h"
#include "model/transformer.h"
#include "temporary_directory.h"

using namespace attn;
using namespace attn::test;

namespace {

ModelConfig small_eight() {
  ModelConfig c;
  c.d_model = 12;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_layers = c.decoder_layers = 1;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 20;
  c.vocab_size = c.decoder_vocab_size = 30;
  c.max_positions = 40;
  c.pad_token_id = c.decoder_start_token_id = 29;
  return c;
}

Matrix few_logits(const Transformer& model) {
  const EncodedSource encoded = model.encode(pack({{5, 7, 9, 4, 3, 11, 6, 2}}));
  const Matrix hidden = model.decode(pack({{2, 8, 5}}), encoded);
  Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
  model.logits(hidden, logits);
  return logits;
}

/// The tensors of a file, to be changed and written again.
struct Stored {
  std::vector<TensorToWrite> tensors;

  explicit Stored(const SafetensorsFile& file) {
    for (const TensorInfo& tensor : file.tensors()) {
      tensors.push_back({tensor.name, tensor.shape,
                         [&file, &tensor](float* out) {
                           if (tensor.dtype != DType::i8) return file.read(tensor, out);
                           for (std::uint64_t i = 0; i < tensor.elements; ++i) {
                             out[i] = std::to_integer<signed char>(file.bytes(tensor)[i]);
                           }
                         },
                         tensor.dtype});
    }
  }
  TensorToWrite& named(const std::string& name) {
    return *std::ranges::find(tensors, name, &TensorToWrite::name);
  }
};

const std::string kWeight = "model.encoder.layers.0.fc1.weight";

}  // namespace

TEST_CASE("a directory of 8 bits computes the bits of its model in 8 bits") {
  const TemporaryDirectory scene;
  save_model(random_model(small_eight(), 3, Backend::panels), {}, scene.path(), DType::i8);
  const SafetensorsFile file(scene.file("model.safetensors"));
  CHECK(file.find(kWeight)->dtype_name == "I8");
  CHECK(file.find(kWeight + "_scale")->dtype_name == "F32");
  CHECK(file.find(kWeight + "_scale")->shape == std::vector<std::uint64_t>{20});
  CHECK(file.find("model.shared.weight")->dtype_name == "F32");
  CHECK(file.find("model.encoder.layers.0.fc1.bias")->dtype_name == "F16");  // zeros
  const LoadedModel stored = load_model(scene.path(), Backend::int8);
  CHECK(stored.notes.empty());
  CHECK(few_logits(stored.transformer) ==
        few_logits(random_model(small_eight(), 3, Backend::int8)));
  // Converted to float32, the weights are the quantized ones.
  const Matrix panels = few_logits(load_model(scene.path(), Backend::panels).transformer);
  const float step = (panels - few_logits(stored.transformer)).cwiseAbs().maxCoeff();
  CHECK(step > 0);
  CHECK(step < 0.05F);
}

TEST_CASE("damaged directories of 8 bits are refused") {
  const TemporaryDirectory good;
  save_model(random_model(small_eight(), 3, Backend::panels), {}, good.path(), DType::i8);
  const SafetensorsFile file(good.file("model.safetensors"));
  const TemporaryDirectory scene;
  const std::string weights = scene.file("model.safetensors");
  const auto refused_file = [&](const std::string& message) {
    CHECK_THROWS_WITH_AS((void)load_model(scene.path(), Backend::int8),
                         (weights + ": tensor " + message).c_str(), InputError);
  };
  const auto refused = [&](Stored& stored, const std::string& message) {
    write_safetensors(weights, stored.tensors, DType::f32);
    refused_file(message);
  };
  write_file(scene.file("config.json"), read_text_file(good.file("config.json")));
  const auto filled = [](std::uint64_t n, std::size_t place, float value) {
    return [=](float* out) {
      std::fill_n(out, n, 1.0F);
      out[place] = value;
    };
  };
  {
    Stored s(file);
    std::erase_if(s.tensors, [](const TensorToWrite& t) { return t.name == kWeight + "_scale"; });
    refused(s, kWeight + "_scale is missing; the int8 weights of " + kWeight +
                   " need a scale for each row");
  }
  {
    Stored s(file);
    s.named(kWeight + "_scale").shape = {2, 10};
    refused(s, kWeight + "_scale has shape [2, 10]; config.json asks for [20]");
  }
  {
    Stored s(file);
    s.named(kWeight).shape = {12, 20};
    refused(s, kWeight + " has shape [12, 20]; config.json asks for [20, 12]");
  }
  {
    Stored s(file);
    s.named(kWeight).fill = filled(240, 77, -128);
    refused(s, kWeight + " holds -128 at element 77; expected -127 to 127");
  }
  {
    Stored s(file);
    s.named(kWeight + "_scale").fill = filled(20, 7, -0.5F);
    refused(s, kWeight + "_scale holds -0.5 at element 7; scales are not negative");
  }
  {
    std::string bytes = read_file(good.file("model.safetensors"));
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(&bytes[file.find(kWeight + "_scale")->begin + 7 * sizeof infinity], &infinity,
                sizeof infinity);
    write_file(weights, bytes);
    refused_file(kWeight + "_scale holds inf at element 7; weights must be finite");
  }
  {
    Json config = read_json_file(good.file("config.json"));
    config["model_type"] = "marian";
    write_file(scene.file("config.json"), config.dump());
    Stored s(file);
    refused(s,
            "'model.encoder.layers.0.self_attn.q_proj.weight': dtype is I8, expected F32, F16 or "
            "BF16");
  }
}
