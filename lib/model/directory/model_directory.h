// Loading and saving model directories in the layout of transformers. The tokenizer's files belong
// to lib/text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "config/model_config.h"
#include "model/directory/safetensors.h"
#include "model/transformer.h"

namespace attn {

/// A model loaded from its directory.
struct LoadedModel {
  Transformer transformer;
  DecodeOptions decode;                   ///< see DirectoryConfig
  std::vector<std::string> unknown_keys;  ///< unknown keys of config.json, for `inspect`
  std::vector<std::string> notes;         ///< sentences for the user (stderr)
};

/// The contents of config.json and generation_config.json: everything known without the weights.
struct DirectoryConfig {
  ModelConfig model;
  /// Decoding options as transformers 5 resolves them. If generation_config.json exists, only it
  /// counts, and missing keys get that library's global defaults (no forced end; no end symbol at
  /// all without eos_token_id). Otherwise they come from config.json.
  DecodeOptions decode;
  std::vector<std::string> unknown_keys;
  std::vector<std::string> notes;
};
DirectoryConfig read_directory_config(const std::string& directory);

/// Loads config.json, generation_config.json and the weights, in any of the supported formats
/// (weights.h). Matrices stay in the mapped files, even 16-bit ones. Other 16-bit tensors and
/// tensors that are not contiguous are copied. Throws InputError for a missing file, a missing
/// tensor (naming the nearest one present), a wrong shape, or NaN or infinity (naming tensor and
/// index); SystemError if the system refuses; MemoryError if the prepared model would not fit.
LoadedModel load_model(const std::string& directory, Backend backend);

// Saving: directories that transformers can read.

/// Writes config.json, generation_config.json and model.safetensors into `directory`, which must
/// exist. Like transformers, omits copies of tied tensors.
///
/// I8 stores matmul weights in int8 (I8 [out, in]) with one scale per row (NAME_scale, F32 [out]),
/// exactly as Backend::int8 prepares them, so results are bit-identical from either directory. All
/// other tensors are stored as F16 if that changes no number, else as F32. The model_type is then
/// attn-demo. Throws InputError if that class does not support the model's layers.
void save_model(const Transformer& model, const DecodeConfig& decode, const std::string& directory,
                DType dtype);

}  // namespace attn
