#include "view/json_record.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json.h"

namespace attn {
namespace {

void append_integer(std::string& out, std::uint64_t value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

void append_integer(std::string& out, int value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

/// [a,b,…], each element written by `append`.
template <typename Range, typename Append>
void append_list(std::string& out, const Range& values, Append&& append) {
  out += '[';
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ',';
    first = false;
    append(out, value);
  }
  out += ']';
}

/// "tokens":[…],"ids":[…]
void append_tokens(std::string& out, const TokenSequence& sequence) {
  out += "\"tokens\":";
  append_list(out, sequence.tokens,
              [](std::string& to, const std::string& token) { append_string(to, token); });
  out += ",\"ids\":";
  append_list(out, sequence.ids, [](std::string& to, int id) { append_integer(to, id); });
}

void append_floats(std::string& out, std::span<const float> values) {
  append_list(out, values, [](std::string& to, float value) { append_number(to, value); });
}

/// [layer][head][query][key]
void append_maps(std::string& out, const AttentionMaps& maps) {
  const auto keys = static_cast<std::size_t>(maps.keys);
  out += '[';
  for (int layer = 0; layer < maps.layers; ++layer) {
    out += layer == 0 ? "[" : ",[";
    for (int head = 0; head < maps.heads; ++head) {
      out += head == 0 ? "[" : ",[";
      const std::span<const float> map = maps.map(layer, head);
      for (int query = 0; query < maps.queries; ++query) {
        if (query > 0) out += ',';
        append_floats(out, map.subspan(static_cast<std::size_t>(query) * keys, keys));
      }
      out += ']';
    }
    out += ']';
  }
  out += ']';
}

void append_field(std::string& out, std::string_view key, int value) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, value);
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
  out += '}';
}

void append_hypothesis(std::string& out, const HypothesisRecord& hypothesis) {
  out += "{\"text\":";
  append_string(out, hypothesis.text);
  out += ',';
  append_tokens(out, hypothesis.produced);
  out += ",\"score\":";
  append_number(out, hypothesis.score);
  out += ",\"log_probs\":";
  append_floats(out, hypothesis.log_probs);
  out += ",\"decoder_input\":{";
  append_tokens(out, hypothesis.decoder_input);
  out += "},\"decoder_self\":";
  append_maps(out, hypothesis.decoder_self);
  out += ",\"cross\":";
  append_maps(out, hypothesis.cross);
  out += '}';
}

/// Bytes that the line will take, roughly: a weight is seldom longer than 13 characters.
std::size_t estimated_size(const AttentionRecord& record) {
  std::size_t weights = record.encoder_self.weights.size();
  for (const HypothesisRecord& hypothesis : record.hypotheses) {
    weights += hypothesis.decoder_self.weights.size() + hypothesis.cross.weights.size();
  }
  return 4096 + 13 * weights;
}

}  // namespace

std::string to_json_line(const AttentionRecord& record) {
  std::string out;
  out.reserve(estimated_size(record));
  out += "{\"format\":\"attn-demo.attention\",\"version\":1,\"model\":";
  append_model(out, record.model);
  out += ",\"source\":{\"text\":";
  append_string(out, record.source_text);
  out += ',';
  append_tokens(out, record.source);
  out += "},\"encoder_self\":";
  append_maps(out, record.encoder_self);
  out += ",\"hypotheses\":";
  append_list(out, record.hypotheses, append_hypothesis);
  out += "}\n";
  return out;
}

}  // namespace attn
