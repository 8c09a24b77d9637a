#include "config/model_report.h"

#include <algorithm>
#include <initializer_list>

#include "base/checked.h"
#include "base/error.h"

namespace attn {
namespace {

constexpr std::uint64_t kFloat = 4;  // bytes

std::uint64_t u(int n) {
  return static_cast<std::uint64_t>(n);
}

[[noreturn]] void too_large() {
  throw InputError("the cost of this model at this length leaves 64 bits; use a shorter length");
}

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  const std::optional<std::uint64_t> result = checked_product(factors);
  if (!result) too_large();
  return *result;
}

std::uint64_t sum(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t total = 0;
  for (const std::uint64_t term : terms) {
    const std::optional<std::uint64_t> next = checked_add(total, term);
    if (!next) too_large();
    total = *next;
  }
  return total;
}

// --- modules --------------------------------------------------------------------------------

ModuleRow linear(const std::string& name, std::uint64_t in, std::uint64_t out) {
  return {name, {out, in}, out, in * out + out, ""};
}

ModuleRow norm(const std::string& name, std::uint64_t d) {
  return {name, {d}, d, 2 * d, ""};
}

/// A matrix of rows; `note` says why it is not counted, where it is not.
ModuleRow table(const std::string& name, std::uint64_t rows, std::uint64_t d,
                const std::string& note = "") {
  return {name, {rows, d}, 0, note.empty() ? rows * d : 0, note};
}

void add_attention(ModuleBlock& block, const std::string& name, std::uint64_t d) {
  for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    block.modules.push_back(linear(name + "." + part, d, d));
  }
  block.modules.push_back(norm(name + "_layer_norm", d));
}

void add_feed_forward(ModuleBlock& block, std::uint64_t d, std::uint64_t width) {
  block.modules.push_back(linear("fc1", d, width));
  block.modules.push_back(linear("fc2", width, d));
  block.modules.push_back(norm("final_layer_norm", d));
}

ModuleBlock embeddings(const ModelConfig& config) {
  const std::uint64_t d = u(config.d_model);
  ModuleBlock block{"embeddings", 1, {}};
  if (config.share_embeddings) {
    block.modules.push_back(table("model.shared", u(config.vocab_size), d));
  } else {
    block.modules.push_back(table("model.encoder.embed_tokens", u(config.vocab_size), d));
    block.modules.push_back(table("model.decoder.embed_tokens", u(config.decoder_vocab_size), d));
  }
  const std::string sinusoids = config.static_positions ? "sinusoids, computed" : "";
  for (const char* stack : {"model.encoder.", "model.decoder."}) {
    block.modules.push_back(
        table(std::string(stack) + "embed_positions", u(config.max_positions), d, sinusoids));
    if (config.normalize_embedding) {
      block.modules.push_back(norm(std::string(stack) + "layernorm_embedding", d));
    }
  }
  return block;
}

ModuleBlock output(const ModelConfig& config) {
  ModuleBlock block{"output", 1, {}};
  std::string tied;
  if (config.tie_word_embeddings) {
    tied = config.share_embeddings ? "= model.shared" : "= decoder.embed_tokens";
  }
  const std::uint64_t vocabulary = u(config.decoder_vocab_size);
  block.modules.push_back(table("lm_head", vocabulary, u(config.d_model), tied));
  block.modules.push_back(table("final_logits_bias", 1, vocabulary, "a buffer"));
  return block;
}

}  // namespace

std::uint64_t ModuleBlock::parameters_of_one() const {
  std::uint64_t total = 0;
  for (const ModuleRow& module : modules) total += module.parameters;
  return total;
}

std::uint64_t ModuleBlock::parameters() const {
  return u(repeat) * parameters_of_one();
}

std::vector<ModuleBlock> list_modules(const ModelConfig& config) {
  const std::uint64_t d = u(config.d_model);
  std::vector<ModuleBlock> blocks = {embeddings(config)};
  ModuleBlock encoder{"model.encoder.layers", config.encoder_layers, {}};
  add_attention(encoder, "self_attn", d);
  add_feed_forward(encoder, d, u(config.encoder_ffn_dim));
  ModuleBlock decoder{"model.decoder.layers", config.decoder_layers, {}};
  add_attention(decoder, "self_attn", d);
  add_attention(decoder, "encoder_attn", d);
  add_feed_forward(decoder, d, u(config.decoder_ffn_dim));
  blocks.push_back(encoder);
  blocks.push_back(decoder);
  if (config.add_final_layer_norm) {
    blocks.push_back({"final norms",
                      1,
                      {norm("model.encoder.layer_norm", d), norm("model.decoder.layer_norm", d)}});
  }
  blocks.push_back(output(config));
  return blocks;
}

CostReport cost_report(const ModelConfig& config, int source_length, int target_length) {
  const std::uint64_t s = u(source_length);
  const std::uint64_t l = u(target_length);
  const std::uint64_t d = u(config.d_model);
  const int encoder = config.encoder_layers;
  const int decoder = config.decoder_layers;
  CostReport report;
  report.source_length = source_length;
  report.target_length = target_length;
  report.multiply_adds = {
      {"encoder_self_projections", "encoder self-attention, projections", "4·S·D²", encoder,
       product({4, s, d, d})},
      {"encoder_self_scores_and_sum", "encoder self-attention, scores and sum", "2·S²·D", encoder,
       product({2, s, s, d})},
      {"encoder_feed_forward", "encoder feed-forward", "2·S·D·F", encoder,
       product({2, s, d, u(config.encoder_ffn_dim)})},
      {"decoder_self_projections", "decoder self-attention, projections", "4·L·D²", decoder,
       product({4, l, d, d})},
      {"decoder_self_scores_and_sum", "decoder self-attention, scores and sum", "L·(L+1)·D",
       decoder, product({l, l + 1, d})},
      {"cross_projections", "cross-attention, projections", "2·(S+L)·D²", decoder,
       product({2, s + l, d, d})},
      {"cross_scores_and_sum", "cross-attention, scores and sum", "2·S·L·D", decoder,
       product({2, s, l, d})},
      {"decoder_feed_forward", "decoder feed-forward", "2·L·D·F", decoder,
       product({2, l, d, u(config.decoder_ffn_dim)})},
      {"output", "output projection", "L·D·V", 1, product({l, d, u(config.decoder_vocab_size)})},
  };
  const std::uint64_t encoder_heads = u(config.encoder_heads);
  const std::uint64_t decoder_heads = u(config.decoder_heads);
  report.memory = {
      {"encoder_self_maps", "encoder self-attention maps", "4·H·S²", encoder,
       product({kFloat, encoder_heads, s, s})},
      {"decoder_self_maps", "decoder self-attention maps", "4·H·L²", decoder,
       product({kFloat, decoder_heads, l, l})},
      {"cross_maps", "cross-attention maps", "4·H·L·S", decoder,
       product({kFloat, decoder_heads, l, s})},
      {"decoder_self_cache", "decoder keys and values, cached", "8·L·D", decoder,
       product({2, kFloat, l, d})},
      {"cross_cache", "cross-attention keys and values, cached", "8·S·D", decoder,
       product({2, kFloat, s, d})},
  };
  const auto finish = [](std::vector<CostRow>& rows) {
    std::uint64_t total = 0;
    for (CostRow& row : rows) {
      row.amount = product({row.amount, u(row.layers)});
      total = sum({total, row.amount});
    }
    return total;
  };
  report.total_multiply_adds = finish(report.multiply_adds);
  report.total_memory = finish(report.memory);
  return report;
}

GrowthReport growth_report(int d_model, int heads, std::uint64_t weights,
                           const std::vector<int>& lengths) {
  GrowthReport report;
  report.d_model = d_model;
  report.heads = heads;
  report.weights = weights;
  report.crossing_length = weights / (2 * u(d_model));
  std::vector<int> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::uint64_t d = u(d_model);
  for (const int length : sorted) {
    const std::uint64_t n = u(length);
    report.rows.push_back(
        {n, product({2, n, n, d}), product({n, weights}), product({kFloat, u(heads), n, n})});
  }
  return report;
}

GrowthReport growth_of(const ModelConfig& config, const std::vector<int>& lengths) {
  const std::uint64_t d = u(config.d_model);
  return growth_report(config.d_model, config.encoder_heads, 4 * d * d, lengths);
}

GrowthReport growth_of(const Preset& preset, const std::vector<int>& lengths) {
  return growth_report(preset.d_model, preset.heads, preset_row(preset, 1).weights, lengths);
}

std::vector<HeadsRow> heads_report(const ModelConfig& config, const std::vector<int>& heads,
                                   int source_length, const std::string& where) {
  std::vector<HeadsRow> rows;
  for (const int count : heads) {
    ModelConfig changed = config;
    changed.encoder_heads = changed.decoder_heads = count;
    validate(changed, where);
    const std::uint64_t d = u(config.d_model);
    rows.push_back({count, changed.encoder_head_dim(), 4 * (d * d + d),
                    count_parameters(changed).value_or(0),
                    product({kFloat, u(count), u(source_length), u(source_length)})});
  }
  return rows;
}

PresetRow preset_row(const Preset& preset, int length) {
  const std::uint64_t d = u(preset.d_model);
  const std::uint64_t shared = u(preset.key_value_heads) * u(preset.head_dim);
  const std::uint64_t n = u(length);
  PresetRow row;
  row.preset = &preset;
  row.weights = 2 * d * d + 2 * d * shared;
  row.biases = preset.biases ? 2 * d + 2 * shared : 0;
  row.multiply_adds = sum({product({n, row.weights}), product({2, n, n, d})});
  return row;
}

}  // namespace attn
