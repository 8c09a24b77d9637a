#include "config/presets.h"

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

using enum ModelArchitecture;

constexpr const char* kBert = "token-type embeddings; learned positions; gelu";
constexpr const char* kGpt = "pre-norm; learned positions; gelu";
constexpr const char* kCurie = "pre-norm; learned positions; gelu; size as inferred by others";
constexpr const char* kLlama = "no biases; rotary positions; RMS norm; gated feed-forward";
constexpr const char* kLlama2 =
    "LLaMA 2: 8 key/value heads shared by 64 query heads; otherwise as LLaMA";
constexpr const char* kT5 =
    "no biases; relative positions; RMS norm; run here with biases, sinusoids and layer norm";
constexpr const char* kBart = "learned positions; gelu; normalized embeddings";

}  // namespace

const std::vector<Preset>& presets() {
  // BERT: Devlin et al. 2018. GPT-3: Brown et al. 2020, table 2.1. LLaMA: Touvron et al. 2023.
  // T5: Raffel et al. 2019. BART: Lewis et al. 2019.
  static const std::vector<Preset> all = {
      {"bert-base", "BERT-base", encoder, 768, 12, 64, 12, 3072, 12, true, kBert},
      {"bert-large", "BERT-large", encoder, 1024, 16, 64, 24, 4096, 16, true, kBert},
      {"gpt-3-curie", "GPT-3 Curie", decoder, 2048, 32, 64, 24, 8192, 32, true, kCurie},
      {"gpt-3-davinci", "GPT-3 Davinci", decoder, 12288, 96, 128, 96, 49152, 96, true, kGpt},
      {"llama-7b", "LLaMA 7B", decoder, 4096, 32, 128, 32, 11008, 32, false, kLlama},
      {"llama-13b", "LLaMA 13B", decoder, 5120, 40, 128, 40, 13824, 40, false, kLlama},
      {"llama-70b", "LLaMA 70B", decoder, 8192, 64, 128, 80, 28672, 8, false, kLlama2},
      {"t5-base", "T5-base", encoder_decoder, 768, 12, 64, 12, 3072, 12, false, kT5},
      {"t5-large", "T5-large", encoder_decoder, 1024, 16, 64, 24, 4096, 16, false, kT5},
      {"bart-base", "BART-base", encoder_decoder, 768, 12, 64, 6, 3072, 12, true, kBart},
      {"bart-large", "BART-large", encoder_decoder, 1024, 16, 64, 12, 4096, 16, true, kBart},
  };
  return all;
}

const Preset& find_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw InputError("unknown preset {}; the nearest is {}", in_quotes(name),
                   in_quotes(nearest_word(std::string(name), names)));
}

ModelConfig preset_model_config(const Preset& preset) {
  if (preset.kind != encoder_decoder) {
    throw InputError(
        "preset {}: {} has only {}, so it can be inspected but not run; use t5-base, t5-large, "
        "bart-base or bart-large",
        preset.name, preset.title, preset.kind == encoder ? "an encoder" : "a decoder");
  }
  const bool bart = preset.name.starts_with("bart");
  ModelConfig config;
  config.d_model = preset.d_model;
  config.encoder_heads = config.decoder_heads = preset.heads;
  config.encoder_layers = config.decoder_layers = preset.layers;
  config.encoder_ffn_dim = config.decoder_ffn_dim = preset.ffn_dim;
  config.activation = bart ? Activation::gelu : Activation::relu;
  config.vocab_size = config.decoder_vocab_size = bart ? 50265 : 32128;
  config.max_positions = bart ? 1024 : 512;
  config.scale_embedding = false;
  config.static_positions = !bart;
  config.normalize_embedding = bart;
  config.normalize_before = config.add_final_layer_norm = !bart;
  config.scale_attention = bart;  // T5 folds 1/√head_dim into the initialization of its weights
  config.pad_token_id = config.decoder_start_token_id = config.vocab_size - 1;
  config.model_type = model_type_for(config);
  return config;
}

}  // namespace attn
