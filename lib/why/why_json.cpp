#include "why/why_json.h"

#include <array>
#include <utility>

#include "base/at.h"
#include "record/json/json_parts.h"
#include "why/gradients_json.h"

namespace attn {
namespace {

/// Writes an array as nested lists.
void write_array(JsonWriter& json, const NdArray& array, std::size_t axis, std::size_t first,
                 std::size_t count) {
  if (axis + 1 == array.shape.size()) {
    json.value(std::span(array.values).subspan(first, count));
    return;
  }
  const std::size_t parts = to_size(array.shape[axis]);
  json.array([&] {
    for (std::size_t i = 0; i < parts; ++i) {
      write_array(json, array, axis + 1, first + i * (count / parts), count / parts);
    }
  });
}

void member(JsonWriter& json, std::string_view name, const NdArray& array) {
  json.key(name);
  write_array(json, array, 0, 0, array.values.size());
}

void write_receipt(JsonWriter& json, const Receipt& receipt) {
  json.object([&] {
    member(json, "token", receipt.token);
    member(json, "position", receipt.position);
    member(json, "self", receipt.self);
    member(json, "cross", receipt.cross);
    member(json, "self_out_bias", receipt.self_out_bias);
    member(json, "cross_out_bias", receipt.cross_out_bias);
    member(json, "ffn", receipt.ffn);
    member(json, "norm_bias", receipt.norm_bias);
    if (!receipt.embedding_norm_bias.empty()) {
      member(json, "embedding_norm_bias", receipt.embedding_norm_bias);
    }
    member(json, "final_norm_bias", receipt.final_norm_bias);
    member(json, "output_bias", receipt.output_bias);
    member(json, "total", receipt.total);
    member(json, "logit", receipt.logit);
  });
}

void write_contributions(JsonWriter& json, const Contributions& c) {
  const std::array<std::pair<const char*, NdArray SiteContributions::*>, 5> maps{{
      {"value_weighted", &SiteContributions::value_weighted},
      {"value_weighted_layer", &SiteContributions::value_weighted_layer},
      {"res_ln_layer", &SiteContributions::res_ln_layer},
      {"mixing_ratio", &SiteContributions::mixing_ratio},
      {"alti", &SiteContributions::alti},
  }};
  for (const auto& each : maps) {
    const auto map = each.second;
    json.key(each.first);
    json.object([&] {
      member(json, "encoder_self", c.encoder_self.*map);
      member(json, "decoder_self", c.decoder_self.*map);
      member(json, "cross", c.cross.*map);
    });
  }
  json.key("alti_plus");
  json.object([&] {
    member(json, "encoder", c.alti_plus_encoder);
    member(json, "layers", c.alti_plus_layers);
    member(json, "total", c.alti_plus_total);
  });
}

/// Writes [state][step] objects with the likeliest tokens.
void write_logit_lens(JsonWriter& json, const LogitLens& lens) {
  json.key("logit_lens");
  json.array(lens.states, [&](const Alternatives& state) {
    const std::size_t count = to_size(state.count);
    json.array_of(to_int(state.ranks.size()), [&](int t) {
      const std::size_t first = to_size(t) * count;
      json.object([&] {
        json.member("ids", std::span(state.ids).subspan(first, count));
        json.member("tokens", std::span(state.tokens).subspan(first, count));
        json.member("log_probs", std::span(state.log_probs).subspan(first, count));
      });
    });
  });
  json.key("logit_lens_rank");
  json.array(lens.states, [&](const Alternatives& state) { json.value(state.ranks); });
}

void write_decoder_lens(JsonWriter& json, const DecoderLensResult& lens) {
  json.key("decoder_lens");
  json.array_of(to_int(lens.tokens.size()), [&](int k) {
    json.object([&] {
      write_tokens(json, at(lens.tokens, k));
      json.member("text", at(lens.texts, k));
    });
  });
  member(json, "decoder_lens_log_prob", lens.log_probs);
}

void write_sequence(JsonWriter& json, std::string_view name, const TokenSequence& sequence,
                    const std::string* text) {
  json.key(name);
  json.object([&] {
    if (text != nullptr) json.member("text", *text);
    write_tokens(json, sequence);
  });
}

/// Writes a member for each of the gradients and for patching.
void write_runs(JsonWriter& json, const Why& why) {
  if (why.gradients) {
    json.key("gradient");
    json.object([&] {
      json.member("log_prob", [&] { write_gradients(json, why.gradients->log_prob); });
      json.member("contrast", [&] { write_gradients(json, why.gradients->contrast); });
    });
  }
  if (why.integrated) {
    json.key("integrated_gradients");
    json.object([&] {
      json.member("steps", IntegrationOptions{}.steps);
      json.member("log_prob", [&] { write_integrated_gradients(json, why.integrated->log_prob); });
      json.member("contrast", [&] { write_integrated_gradients(json, why.integrated->contrast); });
    });
  }
  if (why.patching) {
    json.key("patching");
    write_patching(json, *why.patching);
  }
}

/// Writes a member for each method that has a result.
void write_results(JsonWriter& json, const Why& why) {
  if (why.receipt) {
    json.key("receipt");
    json.object([&] {
      json.member("word", [&] { write_receipt(json, *why.receipt); });
      json.member("contrast", [&] { write_receipt(json, *why.contrast_receipt); });
    });
  }
  if (why.occlusion) {
    json.key("occlusion");
    json.object([&] {
      member(json, "unk", why.occlusion->unk);
      member(json, "drop", why.occlusion->drop);
    });
  }
  if (why.contributions) write_contributions(json, *why.contributions);
  if (why.logit_lens) write_logit_lens(json, *why.logit_lens);
  if (why.decoder_lens) write_decoder_lens(json, *why.decoder_lens);
  write_runs(json, why);
}

}  // namespace

std::string why_json(const Why& why) {
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("format", "attn-demo.why");
      json.member("version", 1);
      json.member("model", [&] { write_model(json, why.model); });
      write_sequence(json, "source", why.source, &why.source_text);
      write_sequence(json, "target", why.target, &why.target_text);
      write_sequence(json, "decoder_input", why.decoder_input, nullptr);
      member(json, "logits", why.logits);
      member(json, "log_prob", why.log_probs);
      json.key("foil");
      json.object([&] {
        write_tokens(json, why.foil);
        member(json, "logits", why.foil_logits);
      });
      write_results(json, why);
    });
  });
}

}  // namespace attn
