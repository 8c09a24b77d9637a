// A good model directory made by the program itself, kept in memory, from which damaged ones are
// written.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "temporary_directory.h"

namespace attn::test {

/// Returns the lesson's config, and the directory of its tokenizer.
std::string demo_config();
std::string demo_tokenizer();

/// The files of one model directory: name to bytes.
struct ModelFiles {
  std::map<std::string, std::string> files;

  /// Returns the files that `attn-demo init --config configs/demo.json --seed 7` writes; they are
  /// made once per process.
  static const ModelFiles& good();

  Json json(const std::string& name) const { return Json::parse(files.at(name)); }

  /// Sets one key of config.json, generation_config.json, …; creates the file if it is absent.
  void set(const std::string& name, const std::string& key, const Json& value);

  /// Writes the files to `scene`/`name`; returns that path.
  std::string write(const TemporaryDirectory& scene, const std::string& name) const;
};

/// The parts of model.safetensors.
struct Tensors {
  Json header;
  std::string data;

  static Tensors of(const ModelFiles& model);
  void store(ModelFiles& model) const;

  Json& tensor(const std::string& name) { return header.at(name); }
  std::size_t begin(const std::string& name) const { return header.at(name)["data_offsets"][0]; }
  std::size_t end(const std::string& name) const { return header.at(name)["data_offsets"][1]; }

  /// Removes the tensor from header and data.
  void remove(const std::string& name);

  /// Overwrites the element's four bytes.
  void set_float(const std::string& name, std::size_t element, float value);
};

/// Returns a safetensors file with this header text and data, and a correct length field.
std::string safetensors_bytes(const std::string& header, const std::string& data);

}  // namespace attn::test
