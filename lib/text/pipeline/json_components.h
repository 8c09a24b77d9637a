// The parts of tokenizer.json: each object of a known "type" becomes a component of a pipeline
// (json_frame.cpp: those of the post-processor).
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "text/pipeline/pipeline.h"

namespace attn {

/// Each takes the value of its key in tokenizer.json, which may be null (none) or a Sequence.
/// InputError, beginning with `where` and the component's place, for a type, a key or a value that
/// is not known.
std::vector<Normalizer> normalizers_of(const Json& value, const std::string& where);
std::vector<PreTokenizer> pre_tokenizers_of(const Json& value, const std::string& where);
std::vector<TokenDecoder> decoders_of(const Json& value, const std::string& where);

/// Of a post-processor: TemplateProcessing's "single", RobertaProcessing, ByteLevel (nothing).
SpecialTokensTemplate post_processor_of(const Json& value, const std::string& where);

/// Whether a ByteLevel is among the decoders.
bool has_byte_level(const Json& decoder);

}  // namespace attn
