#include "config/model_report.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/at.h"
#include "base/error.h"
#include "config/family.h"
#include "config/parameter_table.h"

namespace attn {
namespace {

constexpr std::uint64_t kFloat = 4;  // bytes per float

std::uint64_t u(int n) {
  return to_size(n);
}

[[noreturn]] void too_large() {
  throw InputError(
      "the cost of this model at this length does not fit 64 bits; use a shorter length");
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

std::string title_of(ParameterBlockType kind, const ModelConfig& config) {
  const std::string base(family_of(config).tensor_prefix);
  switch (kind) {
    case ParameterBlockType::embeddings:
      return "embeddings";
    case ParameterBlockType::encoder_layers:
      return base + "encoder.layers";
    case ParameterBlockType::decoder_layers:
      return base + "decoder.layers";
    case ParameterBlockType::final_norms:
      return "final norms";
    case ParameterBlockType::output:
      return "output";
  }
  return "";
}

/// Returns the module of a parameter: "….q_proj" for "….q_proj.weight".
std::string module_of(const std::string& parameter) {
  for (const std::string_view end : {".weight", ".bias"}) {
    if (parameter.ends_with(end)) return parameter.substr(0, parameter.size() - end.size());
  }
  return parameter;
}

/// Returns why a parameter is not counted; empty if it is counted.
std::string note_of(const ParameterEntry& entry) {
  if (entry.buffer) {
    return entry.part == ParameterPart::positions ? "sinusoids, computed" : "a buffer";
  }
  if (entry.tied_to.empty()) return "";
  const std::string module = module_of(entry.tied_to);
  return "= " + (module.ends_with(".shared") ? module : module.substr(module.find('.') + 1));
}

void add_parameter(ModuleBlock& block, const std::string& prefix, const ParameterEntry& entry) {
  if (entry.part == ParameterPart::embedding && !entry.tied_to.empty())
    return;  // a shared parameter is listed once
  const std::string note = note_of(entry);
  std::uint64_t elements = note.empty() ? 1 : 0;
  for (const std::uint64_t n : entry.shape) elements *= n;
  if (entry.role == ParameterRole::bias || entry.role == ParameterRole::norm_bias) {
    block.modules.back().bias_size = entry.shape.front();
    block.modules.back().parameters += elements;
  } else {
    block.modules.push_back({prefix + module_of(entry.name), entry.shape, 0, elements, note});
  }
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
  const auto table = parameter_table(model_sizes(config));
  std::vector<ModuleBlock> modules;
  for (const ParameterBlockType kind :
       {ParameterBlockType::embeddings, ParameterBlockType::encoder_layers,
        ParameterBlockType::decoder_layers, ParameterBlockType::final_norms,
        ParameterBlockType::output}) {
    const bool layers =
        kind == ParameterBlockType::encoder_layers || kind == ParameterBlockType::decoder_layers;
    ModuleBlock listed{title_of(kind, config), 1, {}};
    for (const ParameterBlock& block : table) {
      if (block.kind != kind) continue;
      listed.repeat = to_int(block.repeat);
      for (const auto& entry : block.entries) {
        add_parameter(listed, layers ? "" : block.prefix, entry);
      }
    }
    if (!listed.modules.empty()) modules.push_back(std::move(listed));
  }
  return modules;
}

CostReport cost_report(const ModelConfig& config, int source_length, int target_length) {
  const std::uint64_t s = u(source_length), l = u(target_length), d = u(config.d_model);
  // The columns of all heads: D, or I if head_dim is set separately.
  const std::uint64_t e = u(config.encoder_inner_dim()), c = u(config.decoder_inner_dim());
  // The columns of all keys or values: the same number, or fewer (I') if heads share them.
  const auto e_keys = u(config.encoder_kv_dim()), c_keys = u(config.decoder_kv_dim());
  const auto of = [&config](const char* plain, const char* inner, const char* shared) {
    return config.key_value_heads > 0 ? shared : config.head_dim > 0 ? inner : plain;
  };
  const std::uint64_t products = config.gated ? 3 : 2;  // matrices of the feed-forward block
  const int encoder = config.encoder_layers, decoder = config.decoder_layers;
  CostReport report;
  report.source_length = source_length;
  report.target_length = target_length;
  report.multiply_adds = {
      {"encoder_self_projections", "encoder self-attention, projections",
       of("4·S·D²", "4·S·D·I", "2·S·D·(I+I')"), encoder, product({2, s, d, e + e_keys})},
      {"encoder_self_scores_and_sum", "encoder self-attention, scores and sum",
       of("2·S²·D", "2·S²·I", "2·S²·I"), encoder, product({2, s, s, e})},
      {"encoder_feed_forward", "encoder feed-forward", config.gated ? "3·S·D·F" : "2·S·D·F",
       encoder, product({products, s, d, u(config.encoder_ffn_dim)})},
      {"decoder_self_projections", "decoder self-attention, projections",
       of("4·L·D²", "4·L·D·I", "2·L·D·(I+I')"), decoder, product({2, l, d, c + c_keys})},
      {"decoder_self_scores_and_sum", "decoder self-attention, scores and sum",
       of("L·(L+1)·D", "L·(L+1)·I", "L·(L+1)·I"), decoder, product({l, l + 1, c})},
      {"cross_projections", "cross-attention, projections",
       of("2·(S+L)·D²", "2·(S+L)·D·I", "2·D·(S·I'+L·I)"), decoder,
       sum({product({2, l, d, c}), product({2, s, d, c_keys})})},
      {"cross_scores_and_sum", "cross-attention, scores and sum",
       of("2·S·L·D", "2·S·L·I", "2·S·L·I"), decoder, product({2, s, l, c})},
      {"decoder_feed_forward", "decoder feed-forward", config.gated ? "3·L·D·F" : "2·L·D·F",
       decoder, product({products, l, d, u(config.decoder_ffn_dim)})},
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
      {"decoder_self_cache", "decoder keys and values, cached", of("8·L·D", "8·L·I", "8·L·I'"),
       decoder, product({2, kFloat, l, c_keys})},
      {"cross_cache", "cross-attention keys and values, cached", of("8·S·D", "8·S·I", "8·S·I'"),
       decoder, product({2, kFloat, s, c_keys})},
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

GrowthReport attention_growth(const ModelConfig& config, const std::vector<int>& lengths) {
  const std::uint64_t columns = u(config.encoder_inner_dim()) + u(config.encoder_kv_dim());
  return growth_report(config.encoder_inner_dim(), config.encoder_heads,
                       2 * u(config.d_model) * columns, lengths);
}

GrowthReport attention_growth(const Preset& preset, const std::vector<int>& lengths) {
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
    const std::uint64_t inner = u(changed.encoder_inner_dim()), keys = u(changed.encoder_kv_dim());
    const std::uint64_t weights = 2 * d * (inner + keys);
    rows.push_back({count, changed.encoder_head_dim(),
                    weights + (config.attention_biases ? d + inner + 2 * keys : 0),
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
