// The type of a written model's weights, as a user names it.
#pragma once

#include <string>

#include "model/directory/safetensors.h"

namespace attn {

/// "float32", "float16", "bfloat16" or "int8"; UsageError for another word.
DType parse_dtype(const std::string& text);

}  // namespace attn
