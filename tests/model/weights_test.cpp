// Tests the weights of a directory in every form, and errors in an index.
#include "model/directory/weights.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "check_error.h"
#include "golden_model.h"
#include "model/directory/safetensors.h"
#include "model/safetensors_bytes.h"
#include "model/torch_bytes.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using namespace test;

constexpr const char* kIndex = "model.safetensors.index.json";

/// Returns a file with one tensor of two numbers.
std::string shard(const std::string& name) {
  return build("{\"" + name + "\":" + entry("F32", "[2]", "[0,8]") + "}", 8);
}

std::string index_of(const std::string& map) {
  return "{\"metadata\":{\"total_size\":16},\"weight_map\":" + map + "}";
}

TEST_CASE("of several forms the first in transformers' order is taken") {
  const TemporaryDirectory scene;
  const auto weight_names = [&] {
    std::string names;
    for (const std::string& path : weight_files(scene.path())) {
      names += path.substr(scene.path().size()) + " ";
    }
    return names;
  };
  CHECK(weight_names().empty());
  scene.write("pytorch_model.bin.index.json", index_of(R"({"a":"pytorch_model-1.bin"})"));
  CHECK(weight_names() == "/pytorch_model.bin.index.json /pytorch_model-1.bin ");
  scene.write("pytorch_model.bin", torch_bytes(TorchTensor{}));
  CHECK(weight_names() == "/pytorch_model.bin ");
  CHECK(Weights(scene.path()).find("w")->elements == 6);
  scene.write(kIndex, index_of(R"({"b":"2.safetensors","a":"1.safetensors","c":"2.safetensors"})"));
  CHECK(weight_names() == "/model.safetensors.index.json /1.safetensors /2.safetensors ");
  scene.write("model.safetensors", shard("only"));
  CHECK(weight_names() == "/model.safetensors ");
  CHECK(Weights(scene.path()).find("only")->elements == 2);
}

TEST_CASE("shards are one table of tensors") {
  const TemporaryDirectory scene;
  scene.write("1.safetensors", shard("b"));
  scene.write("2.safetensors", shard("a"));
  scene.write("3.safetensors", shard("c"));  // not listed, so it does not belong to the model
  scene.write(kIndex, index_of(R"({"a":"2.safetensors","b":"1.safetensors"})"));
  const Weights weights(scene.path());
  CHECK(weights.path() == scene.file(kIndex));
  CHECK(weights.tensors().size() == 2);
  CHECK(weights.find("a")->name == "a");
  CHECK(weights.find("b") == weights.tensors()[0]);
  CHECK(weights.find("c") == nullptr);
  const TemporaryDirectory torch;
  torch.write("p-1.bin", torch_bytes(TorchTensor{}));
  torch.write("pytorch_model.bin.index.json", index_of(R"({"w":"p-1.bin"})"));
  float out[6] = {};
  const Weights of_torch(torch.path());
  of_torch.read(*of_torch.find("w"), out);
  CHECK(out[5] != 0);
}

TEST_CASE("an index that does not fit its shards") {
  const TemporaryDirectory scene;
  scene.write("1.safetensors", shard("a"));
  scene.write("2.safetensors", shard("b"));
  const auto refused = [&](const std::string& index, const std::string& message) {
    scene.write(kIndex, index);
    check_error([&] { Weights weights(scene.path()); }, ExitCode::input, message);
  };
  refused(index_of(R"({"a":"1.safetensors","b":"3.safetensors"})"),
          "3.safetensors: missing from the model directory; model.safetensors.index.json names it");
  refused(index_of(R"({"a":"2.safetensors","b":"1.safetensors"})"),
          "tensor a is in 1.safetensors, and weight_map puts it into 2.safetensors");
  refused(index_of(R"({"a":"1.safetensors","b":"2.safetensors","c":"1.safetensors"})"),
          "weight_map puts tensor c into 1.safetensors, which has no such tensor");
  scene.write("3.safetensors", shard("a"));
  refused(index_of(R"({"a":"1.safetensors","b":"3.safetensors"})"),
          "tensor a is in 3.safetensors, and weight_map puts it into 1.safetensors");
  for (const char* name : {"\"../1.safetensors\"", "\"/etc/passwd\"", "\"sub/1.safetensors\"",
                           "\"..\"", "\"\"", "\"1\\u0000\"", "7", "null", "\"..\\\\1\""}) {
    refused(index_of(std::string("{\"a\":") + name + "}"), "expected a file of the same directory");
  }
  refused("[]", "found no weight_map");
  refused("{}", "found no weight_map");
  refused(index_of("{}"), "found no weight_map");
  refused(index_of("[]"), "found no weight_map");
  refused(index_of(R"({"a":"1.safetensors","a":"1.safetensors"})"), "a second time");
  std::string many = "{";
  for (int i = 0; i < 1001; ++i) {
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"" + std::to_string(i) + ".s\"";
  }
  refused(index_of(many + "}"), "1001 shards, expected at most 1000");
}

/// Returns a golden model's tensors as a file of torch.save; every second one is transposed.
std::string as_torch(const SafetensorsFile& file) {
  std::string items;
  std::vector<ZipPart> parts{{"m/data.pkl", ""}};
  for (const TensorInfo& tensor : file.tensors()) {
    const auto* bytes = reinterpret_cast<const char*>(file.bytes(tensor));
    std::string data(bytes, tensor.end - tensor.begin);
    TorchTensor written{.shape = "", .strides = "", .elements = to_index(tensor.elements)};
    written.type = tensor.dtype == DType::f32   ? "FloatStorage"
                   : tensor.dtype == DType::f16 ? "HalfStorage"
                                                : "BFloat16Storage";
    written.entry = std::to_string(parts.size());
    const std::size_t width = tensor.elements == 0 ? 4 : data.size() / to_size(tensor.elements);
    const bool turned = tensor.shape.size() == 2 && parts.size() % 2 == 0;
    std::uint64_t stride = tensor.elements;
    for (const std::uint64_t size : tensor.shape) {
      stride /= std::max<std::uint64_t>(size, 1);
      written.shape += integer(to_index(size));
      if (!turned) written.strides += integer(to_index(stride));
    }
    if (turned) {
      const std::uint64_t rows = tensor.shape[0];
      const std::uint64_t columns = tensor.shape[1];
      written.strides = integer(1) + integer(to_index(rows));
      for (std::size_t i = 0; i < rows * columns; ++i) {
        const std::size_t place = i % columns * rows + i / columns;
        data.replace(place * width, width, bytes + i * width, width);
      }
    }
    items += text(tensor.name) + written.bytes();
    parts.push_back({"m/data/" + written.entry, data});
  }
  parts.front().bytes = table(items);
  return zip_bytes(parts);
}

/// Returns the numbers of all parameters, one after another.
std::vector<float> numbers_of(const Transformer& model) {
  std::vector<float> all;
  visit_parameters(model.config(), model.parameters(),
                   [&](const ParameterInfo&, const Parameter& p) {
                     for (Index i = 0; i < p.size(); ++i) {
                       all.push_back(p.at(i / p.columns, i % p.columns));
                     }
                   });
  return all;
}

TEST_CASE("a model's weights of torch.save have the bits of its safetensors") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    const std::string directory = golden_root() + "/" + name;
    const TemporaryDirectory scene;
    for (const char* file : {"config.json", "generation_config.json"}) {
      const std::string path = directory + "/" + file;
      if (file_exists(path)) scene.write(file, read_file(path));
    }
    scene.write("pytorch_model.bin", as_torch(SafetensorsFile(directory + "/model.safetensors")));
    const LoadedModel expected = load_model(directory, default_backend());
    const LoadedModel loaded = load_model(scene.path(), default_backend());
    CHECK(loaded.notes.size() == expected.notes.size());
    CHECK(numbers_of(loaded.transformer) == numbers_of(expected.transformer));
  }
}

TEST_CASE("a view that repeats numbers is refused where it is no weight of the config") {
  const TemporaryDirectory scene;
  const std::string directory = golden_root() + "/marian-2-heads-toy";
  scene.write("config.json", read_file(directory + "/config.json"));
  const TorchTensor repeated{.shape = integer(std::int64_t{1} << 30) + integer(1 << 30),
                             .strides = integer(0) + integer(0)};
  scene.write("pytorch_model.bin",
              torch_bytes(table(text("model.shared.weight") + repeated.bytes() + text("a") +
                                TorchTensor{}.bytes() + text("b") + TorchTensor{}.bytes() +
                                text("c") + TorchTensor{}.bytes())));
  check_error([&] { load_model(scene.path(), default_backend()); }, ExitCode::input,
              "model.shared.weight has shape [1073741824, 1073741824]; config.json asks for");
}

}  // namespace
}  // namespace attn
