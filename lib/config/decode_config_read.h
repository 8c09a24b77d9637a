// Reading the keys of `generate` that the program supports.
#pragma once

#include "config/decode_config.h"
#include "config/key_reader.h"

namespace attn {

/// The options of generation_config.json, of config.json or of an experiment's `decode` section;
/// null counts as not said. InputError for wrong types and values.
DecodeOptions read_decode_options(KeyReader& reader);

}  // namespace attn
