#include "view/data/json_parts.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/strings/base64.h"

namespace attn {
namespace {

void append_field(std::string& out, std::string_view key, int value) {
  append_format(out, ",\"{}\":{}", key, value);
}

}  // namespace

void append_number_or_null(std::string& out, float value) {
  if (std::isfinite(value)) {
    append_number(out, value);
  } else {
    out += "null";
  }
}

void append_strings(std::string& out, std::span<const std::string> values) {
  append_list(out, values,
              [](std::string& to, const std::string& text) { append_string(to, text); });
}

void append_floats(std::string& out, std::span<const float> values) {
  append_list(out, values, [](std::string& to, float value) { append_number(to, value); });
}

void append_float_bytes(std::string& out, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xffU);
  }
  out += '"';
  append_base64(out, bytes);
  out += '"';
}

void append_tokens(std::string& out, const TokenSequence& sequence) {
  out += "\"tokens\":";
  append_strings(out, sequence.tokens);
  out += ",\"ids\":";
  append_list(out, sequence.ids, [](std::string& to, int id) { append_integer(to, id); });
}

void append_model(std::string& out, const ModelSummary& model) {
  out += model.random_weights ? "{\"weights\":\"random\"" : "{\"weights\":\"loaded\"";
  out += ",\"seed\":";
  if (model.seed) {
    append_integer(out, *model.seed);
  } else {
    out += "null";
  }
  if (model.update) {
    out += ",\"update\":";
    append_integer(out, *model.update);
  }
  out += ",\"name\":";
  append_string(out, model.name);
  if (model.precision != "float32") {
    out += ",\"precision\":";
    append_string(out, model.precision);
  }
  if (!model.ensemble.empty()) {
    out += ",\"ensemble\":";
    append_strings(out, model.ensemble);
  }
  append_field(out, "d_model", model.d_model);
  append_field(out, "encoder_layers", model.encoder_layers);
  append_field(out, "decoder_layers", model.decoder_layers);
  append_field(out, "encoder_heads", model.encoder_heads);
  append_field(out, "decoder_heads", model.decoder_heads);
  append_field(out, "encoder_head_dim", model.encoder_head_dim());
  append_field(out, "decoder_head_dim", model.decoder_head_dim());
  append_field(out, "encoder_ffn_dim", model.encoder_ffn_dim);
  append_field(out, "decoder_ffn_dim", model.decoder_ffn_dim);
  append_field(out, "vocab_size", model.vocab_size);
  append_field(out, "decoder_vocab_size", model.decoder_vocab_size);
  out += ",\"encoder_scale\":";
  append_number(out, model.encoder_scale);
  out += ",\"decoder_scale\":";
  append_number(out, model.decoder_scale);
  out += '}';
}

}  // namespace attn
