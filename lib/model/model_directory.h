// Models in and out: random weights from a seed, and directories as transformers reads and writes
// them (the tokenizer's files are lib/text's).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "config/model_config.h"
#include "model/safetensors.h"
#include "model/transformer.h"

namespace attn {

/// A model directory after loading.
struct LoadedModel {
  Transformer transformer;
  DecodeOptions decode;                   ///< generation_config.json over config.json
  std::optional<int> default_forced_eos;  ///< of transformers' class for this model_type
  std::vector<std::string> unknown_keys;  ///< of config.json, for `inspect`
  std::vector<std::string> notes;         ///< sentences for the user (stderr)
};

/// config.json, generation_config.json: what can be known without reading the weights.
struct DirectoryConfig {
  ModelConfig model;
  DecodeOptions decode;
  std::optional<int> default_forced_eos;
  std::vector<std::string> unknown_keys;
  std::vector<std::string> notes;
};
DirectoryConfig read_directory_config(const std::string& directory);

/// Loads config.json, generation_config.json and model.safetensors. F32 weights stay in the mapped
/// file; F16 and BF16 are widened. InputError for a missing file, missing tensor (naming the
/// nearest present), wrong shape, NaN or infinity (naming tensor and index); SystemError where the
/// system refuses; MemoryError where the prepared model would not fit.
LoadedModel load_model(const std::string& directory, Backend backend);

/// A model with weights made from the seed (see random.h): projections uniform within
/// √(6 / (in + out)) (Glorot and Bengio 2010), embeddings with variance 1/D and the pad row zero,
/// biases 0, norms 1 and 0, final_logits_bias 0 and −1e4 for pad. MemoryError where it would not
/// fit.
Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend);

/// Writes config.json, generation_config.json and model.safetensors into `directory`, which exists.
/// Tied copies are left out, as transformers does.
void save_model(Transformer& model, const DecodeConfig& decode, const std::string& directory,
                DType dtype);

/// Bytes that a model takes in memory while it runs: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config);

/// Bytes this process may still allocate: available memory and its limits (ulimit -v, cgroup).
std::uint64_t available_memory();

/// MemoryError naming both figures where `bytes` is more than available_memory().
void require_memory(std::uint64_t bytes, const std::string& what);

}  // namespace attn
