#include "config/other_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "config/attention_site.h"

namespace attn {
namespace {

struct KeyAliases {
  std::string_view words;
  std::string_view keys;
};

constexpr std::array<KeyAliases, 18> kKeyAliases = {{
    {"heads num_heads n_heads n_head nhead attention_heads num_attention_heads",
     "encoder_attention_heads decoder_attention_heads"},
    {"layers num_layers n_layers n_layer depth", "encoder_layers decoder_layers"},
    {"ffn ffn_dim d_ff dim_feedforward ffn_size intermediate_size feed_forward",
     "encoder_ffn_dim decoder_ffn_dim"},
    {"dim width model_dim hidden_dim embed_dim embedding_dim n_embd emb_size", "d_model"},
    {"activation act hidden_act", "activation_function"},
    {"positions max_positions max_len max_seq_len max_length max_position_embeddings",
     "max_position_embeddings max_encoder_position_embeddings max_decoder_position_embeddings"},
    {"window encoder_attention", "attention_window"},  // those of model_type: attn-demo
    {"random_blocks encoder_attention", "num_random_blocks"},
    {"pre_norm prenorm norm_first", "normalize_before"},
    {"lr rate", "learning_rate"},
    {"warmup warmup_steps", "warmup_updates"},
    {"batch batch_size max_tokens", "batch_tokens"},
    {"steps max_steps train_steps max_updates max_update", "updates"},
    {"max_epochs num_epochs", "epochs"},
    {"smoothing", "label_smoothing"},
    {"early_stopping", "patience"},
    {"beam beams beam_size", "num_beams"},
    {"valid validation val", "dev"},
}};

bool holds(std::string_view list, const std::string& word) {
  const std::vector<std::string_view> words = split_at(list, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<std::string> keys_for_alias(const std::string& word,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> keys;
  for (const KeyAliases& names : kKeyAliases) {
    if (!holds(names.words, word)) continue;
    for (const std::string_view key : split_at(names.keys, ' ')) {
      if (std::find(known.begin(), known.end(), key) != known.end()) keys.emplace_back(key);
    }
  }
  return keys;
}

}  // namespace attn
