// Loads and saves model directories in transformers' layout. lib/text handles the tokenizer's
// files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "config/model_config.h"
#include "model/directory/safetensors.h"
#include "model/transformer.h"

namespace attn {

/// A model directory after loading.
struct LoadedModel {
  Transformer transformer;
  DecodeOptions decode;                   ///< see DirectoryConfig
  std::vector<std::string> unknown_keys;  ///< of config.json, for `inspect`
  std::vector<std::string> notes;         ///< sentences for the user (stderr)
};

/// config.json, generation_config.json: what can be known without reading the weights.
struct DirectoryConfig {
  ModelConfig model;
  /// As transformers 5 decodes: where generation_config.json exists it alone counts, and what it
  /// does not say is that library's global default (no forced end; no end symbol at all without
  /// eos_token_id). Without it, config.json.
  DecodeOptions decode;
  std::vector<std::string> unknown_keys;
  std::vector<std::string> notes;
};
DirectoryConfig read_directory_config(const std::string& directory);

/// Loads config.json, generation_config.json and the weights in whichever form they are there
/// (weights.h). Matrices stay in the mapped files, also where these have 16 bits; what else has 16
/// bits, or whose numbers do not follow one another, is copied. InputError for a missing
/// file, missing tensor (naming the nearest present), wrong shape, NaN or infinity (naming tensor
/// and index); SystemError where the system refuses; MemoryError where the prepared model would not
/// fit.
LoadedModel load_model(const std::string& directory, Backend backend);

// Models out: directories as transformers reads them (the tokenizer's files are lib/text's).

/// Writes config.json, generation_config.json and model.safetensors into `directory`, which exists.
/// Tied copies are left out, as transformers does.
///
/// I8: the products' weights as 8 bits (I8 [out, in]) with a scale a row (NAME_scale, F32 [out]),
/// as Backend::int8 has them, so that it computes the same bits from either directory; what else
/// there is as F16 where no number changes by that, else as F32. The model_type is then attn-demo.
/// InputError where that has no such layers.
void save_model(const Transformer& model, const DecodeConfig& decode, const std::string& directory,
                DType dtype);

}  // namespace attn
