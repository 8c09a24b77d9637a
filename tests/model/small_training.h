// Small models and batches for tests of whole training passes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/random.h"
#include "model/training/training_pass.h"

namespace attn::test {

/// Returns a post-norm model like Marian's, with sizes that are not multiples of any block size.
inline ModelConfig small_config() {
  ModelConfig c;
  c.d_model = 15;
  c.encoder_layers = 2;
  c.decoder_layers = 2;
  c.encoder_heads = 3;
  c.decoder_heads = 5;
  c.encoder_ffn_dim = 21;
  c.decoder_ffn_dim = 19;
  c.vocab_size = c.decoder_vocab_size = 37;
  c.max_positions = 64;
  c.pad_token_id = c.decoder_start_token_id = 36;
  c.dropout = 0.1F;
  c.attention_dropout = 0.15F;
  c.activation_dropout = 0.2F;
  return c;
}

/// Returns a pre-norm model with final norms and an activation without kinks.
inline ModelConfig small_pre_norm_config() {
  ModelConfig c = small_config();
  c.normalize_before = true;
  c.add_final_layer_norm = true;
  c.activation = Activation::gelu;
  return c;
}

/// Returns a model with the remaining options: two vocabularies, learned positions, untied output,
/// unscaled scores.
inline ModelConfig small_untied_config() {
  ModelConfig c = small_config();
  c.activation = Activation::swish;
  c.decoder_vocab_size = 41;
  c.pad_token_id = c.decoder_start_token_id = 40;
  c.vocab_size = 43;
  c.share_embeddings = false;
  c.tie_word_embeddings = false;
  c.static_positions = false;
  c.scale_attention = false;
  c.normalize_embedding = true;
  return c;
}

/// Returns a published family with patterns that leave out keys in sentences of eight tokens.
inline ModelConfig small_family_config(const std::string& model_type) {
  ModelConfig c = small_config();
  c.model_type = model_type;
  c.activation = model_type == "bigbird_pegasus" ? Activation::gelu_new : Activation::gelu;
  apply_fixed_settings(family_of(model_type), c);
  if (model_type == "led") {
    c.encoder_attention.type = PatternType::longformer;
    c.encoder_attention.windows = {2, 4};
    c.encoder_attention.globals = {0, 3};
  }
  if (model_type == "bigbird_pegasus") {
    c.encoder_attention.type = PatternType::bigbird;
    c.encoder_attention.block_size = 1;
    c.encoder_attention.random_blocks = 1;
    c.encoder_attention.random_is_seeded = false;
    c.attention_biases = false;
  }
  if (model_type == "pegasus_x") {
    c.encoder_attention.type = PatternType::chunks;
    c.encoder_attention.block_size = 4;
    c.encoder_attention.shift = true;
    c.global_tokens = 2;
    c.d_model = 18;  // the columns of its sinusoids come in pairs
    c.decoder_heads = 2;
    c.attention_biases = false;
  }
  return c;
}

/// Returns a multilingual family: mBART, with norms before the blocks, and M2M100, where <pad> is
/// the second id; or BART with <pad> there.
inline ModelConfig small_several_config(const std::string& model_type) {
  ModelConfig c = small_family_config(model_type);
  if (model_type == "m2m_100") {
    c.d_model = 18;  // the columns of its sinusoids come in pairs
    c.decoder_heads = 2;
  }
  c.scale_embedding = true;
  c.pad_token_id = 1;
  c.decoder_start_token_id = 2;
  return c;
}

/// Returns T5 or a related family: RMS norms, a gate, a relative position bias, and heads with a
/// width of their own.
inline ModelConfig small_t5_config(const std::string& model_type = "t5") {
  ModelConfig c = small_config();
  c.model_type = model_type;
  apply_fixed_settings(family_of(model_type), c);
  c.activation = Activation::gelu_new;
  c.head_dim = 7;
  c.relative = {8, 6, model_type == "umt5"};
  c.norm_epsilon = 1e-6F;
  c.gated = model_type != "t5";
  c.scale_output = model_type != "mt5";
  return c;
}

/// Returns a model with some of the program's own parts, which `choose` sets, and an activation
/// without kinks.
template <typename Choose>
ModelConfig small_own_config(Choose&& choose) {
  ModelConfig c = small_config();
  c.activation = Activation::swish;
  c.encoder_heads = 4;
  c.decoder_heads = 6;
  c.d_model = 12;
  choose(c);
  if (c.norm == NormType::rms) c.norm_epsilon = 1e-6F;
  c.model_type = model_type_for(c);
  return c;
}

inline void choose_relative(ModelConfig& c) {
  c.absolute_positions = false;
  c.relative = {8, 6, false};
}
inline void choose_rotary(ModelConfig& c) {
  c.absolute_positions = false;
  c.rotary = true;
  c.head_dim = 4;
}
inline void choose_pre_norm(ModelConfig& c) {
  c.normalize_before = c.add_final_layer_norm = true;
}

struct NamedConfig {
  std::string name;
  ModelConfig config;
};

/// Returns a model for each part, and one with all of them.
inline std::vector<NamedConfig> small_own_configs() {
  using C = ModelConfig;
  return {{"head_dim", small_own_config([](C& c) { c.head_dim = 5; })},
          {"rms", small_own_config([](C& c) { c.norm = NormType::rms; })},
          {"gated", small_own_config([](C& c) { c.gated = true; })},
          {"none", small_own_config([](C& c) { c.absolute_positions = false; })},
          {"learned", small_own_config([](C& c) { c.static_positions = false; })},
          {"relative", small_own_config(choose_relative)},
          {"rotary", small_own_config(choose_rotary)},
          {"one of keys", small_own_config([](C& c) { c.key_value_heads = 1; })},
          {"two of keys", small_own_config([](C& c) { c.key_value_heads = 2; })},
          {"all with relative", small_own_config([](C& c) {
             choose_relative(c);
             choose_pre_norm(c);
             c.head_dim = 5;
             c.gated = true;
             c.key_value_heads = 2;
             c.norm = NormType::rms;
           })},
          {"all with rotary", small_own_config([](C& c) {
             choose_rotary(c);
             choose_pre_norm(c);
             c.norm = NormType::rms;
             c.gated = true;
             c.key_value_heads = 2;
             c.normalize_embedding = true;
             c.scale_attention = false;
           })}};
}

/// Returns `sentences` pairs of random tokens, with `shortest` to `longest` tokens on each side.
inline TrainingBatch random_batch(const ModelConfig& c, Index sentences, int shortest, int longest,
                                  const std::string& name) {
  const auto numbers = [&](const std::string& stream, std::size_t count, int below) {
    std::vector<float> uniform(count);
    fill_uniform(5, name + stream, 1.0F, uniform.data(), count);
    std::vector<int> result;
    for (const float u : uniform) {
      result.push_back(
          std::min(below - 1, static_cast<int>((u + 1) / 2 * static_cast<float>(below))));
    }
    return result;
  };
  const auto count = to_size(2 * sentences);
  const std::vector<int> lengths = numbers("lengths", count, longest - shortest + 1);
  TrainingBatch batch;
  for (std::size_t b = 0; b < count; b += 2) {
    const auto ids = [&](std::size_t side, int classes) {
      const auto length = to_size(shortest + lengths[b + side]);
      const bool pad_is_last = c.pad_token_id == c.decoder_vocab_size - 1;
      std::vector<int> sentence =
          numbers(std::to_string(b + side), length,
                  pad_is_last ? std::min(classes, c.pad_token_id) : classes);
      std::ranges::replace(sentence, c.pad_token_id, c.eos_token_id);
      sentence.back() = c.eos_token_id;
      return sentence;
    };
    batch.add(ids(0, c.vocab_size), ids(1, c.decoder_vocab_size), c.decoder_start_token_id);
  }
  return batch;
}

/// Sets weights to a size at which every part of the model matters; initialization leaves biases
/// at 0.
inline void randomise(TrainableModel& model) {
  std::vector<float> noise(model.weights().size());
  fill_uniform(11, "noise", 0.1F, noise.data(), noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) model.weights()[i] += noise[i];
}

inline std::vector<float> copy_of(std::span<const float> numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Returns the gradients of one run, starting from zero.
inline std::vector<float> gradients_of(TrainableModel& model, TrainingPass& pass,
                                       const TrainingBatch& batch, const PassOptions& options) {
  std::fill(model.gradients().begin(), model.gradients().end(), 0.0F);
  pass.run(batch, options);
  return copy_of(model.gradients());
}

}  // namespace attn::test
