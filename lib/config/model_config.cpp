#include "config/model_config.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace attn {

std::string list_divisors(int d_model) {
  std::string list;
  int last = 0;
  for (int n = 1; n <= d_model; ++n) {
    if (d_model % n != 0) continue;
    if (last != 0) list += (list.empty() ? "" : ", ") + std::to_string(last);
    last = n;
  }
  return (list.empty() ? "" : list + " or ") + std::to_string(last);
}

std::string to_string(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::swish:
      return "swish";
    case Activation::gelu_new:
      return "gelu_new";
  }
  return "relu";
}

std::optional<Activation> parse_activation(std::string_view name) {
  if (name == "silu") return Activation::swish;
  for (const Activation each :
       {Activation::relu, Activation::gelu, Activation::swish, Activation::gelu_new}) {
    if (name == to_string(each)) return each;
  }
  return std::nullopt;
}

double shortest_double(float value) {
  return std::stod(fmt::format("{}", value));
}

const std::array<SizeKey, size_key_count>& size_keys() {
  using Config = ModelConfig;
  using L = ModelLimits;
  using S = ModelSizes;
  static const std::array<SizeKey, size_key_count> keys = {{
      {"d_model", "hidden_size", &S::d_model, &Config::d_model, L::d_model},
      {"encoder_layers", "num_hidden_layers", &S::encoder_layers, &Config::encoder_layers,
       L::layers},
      {"decoder_layers", "", &S::decoder_layers, &Config::decoder_layers, L::layers},
      {"encoder_attention_heads", "num_attention_heads", &S::encoder_heads, &Config::encoder_heads,
       L::d_model},
      {"decoder_attention_heads", "", &S::decoder_heads, &Config::decoder_heads, L::d_model},
      {"encoder_ffn_dim", "", &S::encoder_ffn, &Config::encoder_ffn_dim, L::ffn_dim},
      {"decoder_ffn_dim", "", &S::decoder_ffn, &Config::decoder_ffn_dim, L::ffn_dim},
      {"vocab_size", "", &S::vocab, &Config::vocab_size, L::vocab_size},
      {"decoder_vocab_size", "", &S::decoder_vocab, &Config::decoder_vocab_size, L::vocab_size},
      {"max_position_embeddings", "", &S::positions, &Config::max_positions, L::positions},
  }};
  return keys;
}

const char* size_key_name(int ModelConfig::*member) {
  return std::ranges::find(size_keys(), member, &SizeKey::member)->key;
}

RawSizes raw_sizes(const ModelConfig& config) {
  RawSizes sizes;
  for (std::size_t i = 0; i < size_key_count; ++i) sizes[i] = config.*size_keys()[i].member;
  return sizes;
}

void set_sizes(const RawSizes& sizes, ModelConfig& config) {
  for (std::size_t i = 0; i < size_key_count; ++i) {
    config.*size_keys()[i].member = static_cast<int>(sizes[i]);
  }
}

std::string KeyNames::of(const std::string& key) const {
  const auto alias = aliases.find(key);
  return prefix + (alias == aliases.end() ? key : alias->second);
}

}  // namespace attn
