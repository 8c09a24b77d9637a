// Pieces of JSON that several records are made of. Each appends to `out`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "record/attention_record.h"
#include "view/append_text.h"

namespace attn {

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  append_format(out, "{}", value);
}

/// JSON has no number for what is not finite: null.
void append_number_or_null(std::string& out, float value);

void append_strings(std::string& out, std::span<const std::string> values);
void append_floats(std::string& out, std::span<const float> values);

/// A JSON string: base64 (RFC 4648) of the floats' bytes, little-endian.
void append_float_bytes(std::string& out, std::span<const float> values);

/// "tokens":[…],"ids":[…]
void append_tokens(std::string& out, const TokenSequence& sequence);

/// The object that says what is known of a model.
void append_model(std::string& out, const ModelSummary& model);

}  // namespace attn
