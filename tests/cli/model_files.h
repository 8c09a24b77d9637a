// A good model directory made by the program itself, held in memory, to be written out damaged.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "temporary_directory.h"

namespace attn::test {

/// The lesson's config, and its tokenizer's directory.
std::string demo_config();
std::string demo_tokenizer();

/// Files of one model directory: name to bytes.
struct ModelFiles {
  std::map<std::string, std::string> files;

  /// Returns the files that `attn-demo init --config configs/demo.json --seed 7` writes; they are
  /// made once per process.
  static const ModelFiles& good();

  Json json(const std::string& name) const { return Json::parse(files.at(name)); }

  /// Sets one key of config.json, generation_config.json, …; makes the file where it is absent.
  void set(const std::string& name, const std::string& key, const Json& value);

  /// Writes them to `scene`/`name`; returns that path.
  std::string write(const TemporaryDirectory& scene, const std::string& name) const;
};

/// model.safetensors taken apart.
struct Tensors {
  Json header;
  std::string data;

  static Tensors of(const ModelFiles& model);
  void store(ModelFiles& model) const;

  Json& tensor(const std::string& name) { return header.at(name); }
  std::size_t begin(const std::string& name) const { return header.at(name)["data_offsets"][0]; }
  std::size_t end(const std::string& name) const { return header.at(name)["data_offsets"][1]; }

  /// Takes the tensor out, header and bytes.
  void remove(const std::string& name);

  /// Overwrites the element's four bytes.
  void set_float(const std::string& name, std::size_t element, float value);
};

/// A safetensors file of this header text and data, the length field right.
std::string safetensors_bytes(const std::string& header, const std::string& data);

}  // namespace attn::test
