#include "model_files.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "run_program.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

ModelFiles make_good() {
  const TemporaryDirectory scene;
  const std::string directory = scene.file("good");
  const Result made =
      run_program({.args = {"init", "--config", demo_config(), "--seed", "7", "--out", directory}});
  if (made.code != 0) throw std::runtime_error("init failed: " + made.err);
  ModelFiles model;
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    model.files[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(file), {});
  }
  return model;
}

}  // namespace

std::string demo_config() {
  return std::string(ATTN_SOURCE_DIR) + "/configs/demo.json";
}

std::string demo_tokenizer() {
  return std::string(ATTN_SOURCE_DIR) + "/data/demo/tokenizer";
}

const ModelFiles& ModelFiles::good() {
  static const ModelFiles model = make_good();
  return model;
}

void ModelFiles::set(const std::string& name, const std::string& key, const Json& value) {
  Json document = files.contains(name) ? json(name) : Json::object();
  document[key] = value;
  files[name] = document.dump(2) + "\n";
}

std::string ModelFiles::write(const TemporaryDirectory& scene, const std::string& name) const {
  fs::create_directory(scene.file(name));
  for (const auto& [file, bytes] : files) scene.write(name + "/" + file, bytes);
  return scene.file(name);
}

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

Tensors Tensors::of(const ModelFiles& model) {
  const std::string& bytes = model.files.at("model.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return {Json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

void Tensors::store(ModelFiles& model) const {
  model.files["model.safetensors"] = safetensors_bytes(header.dump(), data);
}

void Tensors::remove(const std::string& name) {
  const std::size_t from = begin(name);
  const std::size_t size = end(name) - from;
  data.erase(from, size);
  header.erase(name);
  for (auto& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    for (auto& offset : entry["data_offsets"]) {
      if (offset.get<std::size_t>() > from) offset = offset.get<std::size_t>() - size;
    }
  }
}

void Tensors::set_float(const std::string& name, std::size_t element, float value) {
  std::memcpy(data.data() + begin(name) + 4 * element, &value, sizeof value);
}

}  // namespace attn::test
