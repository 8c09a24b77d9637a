// The reports of config/model_report.h as tables for people.
#pragma once

#include <vector>

#include "config/model_config.h"
#include "config/presets.h"
#include "view/inspect_options.h"
#include "view/terminal/table.h"

namespace attn {

/// Returns the tables of a model: summary, modules, multiply-adds, attention memory, growth, heads.
/// `config` must be valid. Throws InputError if a number does not fit into 64 bits.
std::vector<Table> inspect_tables(const ModelConfig& config, const InspectOptions& options);

/// Returns all presets, with the parameters and multiply-adds of one attention layer at `length`;
/// then their names, and how they differ from this program's Transformer.
std::vector<Table> presets_tables(int length);

/// Returns one preset, runnable or not: the same row, and how the cost of its attention grows.
std::vector<Table> preset_tables(const Preset& preset, const InspectOptions& options);

}  // namespace attn
