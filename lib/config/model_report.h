// The modules of a model and their cost: multiply-adds, attention memory, growth with length.
// Everything follows from the config; no weights are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/presets.h"

namespace attn {

/// One module, named as in the weights file, with its `.weight` and `.bias`.
struct ModuleRow {
  std::string name;
  std::vector<std::uint64_t> weight_shape;  ///< as stored: [out, in] for projections
  std::uint64_t bias_size = 0;              ///< 0: no bias
  std::uint64_t parameters = 0;             ///< 0 if tied to another module, or a buffer
  std::string note;  ///< the module that it is tied to, or why nothing is counted
};

/// Modules that occur together, `repeat` times (the layers of a stack).
struct ModuleBlock {
  std::string name;
  int repeat = 1;
  std::vector<ModuleRow> modules;

  std::uint64_t parameters_of_one() const;
  std::uint64_t parameters() const;  ///< sum of all repeats
};

/// Lists every module of a valid config. The blocks' parameters add up to
/// count_parameters(config).
std::vector<ModuleBlock> list_modules(const ModelConfig& config);

/// One part of a model's work or memory, for all its layers together.
struct CostRow {
  std::string key;      ///< for JSON: "encoder_self_attention_projections"
  std::string title;    ///< for display
  std::string formula;  ///< formula for one layer, in the project's dimension letters
  int layers = 1;
  std::uint64_t amount = 0;  ///< multiply-adds or bytes
};

struct CostReport {
  int source_length = 0;               ///< S, tokens with </s>
  int target_length = 0;               ///< L, tokens with </s>
  std::vector<CostRow> multiply_adds;  ///< masked cells, softmax, norms and sums not counted
  std::vector<CostRow> memory;         ///< bytes of the maps and of the key/value cache, float32
  std::uint64_t total_multiply_adds = 0;
  std::uint64_t total_memory = 0;
};

/// Returns the cost of translating one sentence of `source_length` tokens into `target_length`,
/// with one hypothesis and cached keys and values. Throws InputError if a number exceeds 64 bits.
CostReport cost_report(const ModelConfig& config, int source_length, int target_length);

/// The self-attention of one layer at length N.
struct GrowthRow {
  std::uint64_t length = 0;
  std::uint64_t scores_and_sum = 0;  ///< 2·N²·D multiply-adds: Q·Kᵀ and weights·V
  std::uint64_t projections = 0;     ///< N·weights multiply-adds: query, key, value, output
  std::uint64_t map_bytes = 0;       ///< H·N² weights of 4 bytes
};

struct GrowthReport {
  int d_model = 0;
  int heads = 0;
  std::vector<GrowthRow> rows;  ///< by length, ascending and without duplicates
  std::uint64_t weights = 0;    ///< of the four projections: 4·D², fewer where grouped
  std::uint64_t crossing_length =
      0;  ///< weights / 2·D, usually 2·D: both terms are equal at this length
};

/// Computes the growth. Throws InputError if a number exceeds 64 bits.
GrowthReport growth_report(int d_model, int heads, std::uint64_t weights,
                           const std::vector<int>& lengths);

/// Reports the growth for a model's encoder layers, or for a preset's layers.
GrowthReport attention_growth(const ModelConfig& config, const std::vector<int>& lengths);
GrowthReport attention_growth(const Preset& preset, const std::vector<int>& lengths);

/// The same model with another number of heads in both stacks.
struct HeadsRow {
  int heads = 0;
  int head_dim = 0;
  std::uint64_t layer_parameters = 0;  ///< parameters of one attention layer
  std::uint64_t parameters = 0;        ///< parameters of the whole model
  std::uint64_t map_bytes = 0;  ///< bytes of one encoder layer's maps at the given source length
};

/// Reports on numbers of heads. Throws InputError that begins with `where` if one does not divide
/// d_model.
std::vector<HeadsRow> heads_report(const ModelConfig& config, const std::vector<int>& heads,
                                   int source_length, const std::string& where);

/// One attention layer of a preset.
struct PresetRow {
  const Preset* preset = nullptr;
  std::uint64_t weights = 0;        ///< 4·D², fewer with grouped keys and values
  std::uint64_t biases = 0;         ///< 4·D, or 0 if the model has none
  std::uint64_t multiply_adds = 0;  ///< weights·N + 2·N²·D
};

PresetRow preset_row(const Preset& preset, int length);

}  // namespace attn
