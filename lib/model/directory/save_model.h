// Models out: directories as transformers reads them (the tokenizer's files are lib/text's).
#pragma once

#include <string>

#include "config/decode_config.h"
#include "model/directory/safetensors.h"
#include "model/transformer.h"

namespace attn {

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
