// The reports of config/model_report.h as tables for people.
#pragma once

#include <vector>

#include "config/model_config.h"
#include "config/presets.h"
#include "view/inspect_options.h"
#include "view/terminal/table.h"

namespace attn {

/// The tables of a model: what it is, modules, multiply-adds, attention memory, growth, heads.
/// `config` is valid; InputError where a figure leaves 64 bits.
std::vector<Table> inspect_tables(const ModelConfig& config, const InspectOptions& options);

/// All presets, with one attention layer's parameters and multiply-adds at `length`; then their
/// names, and what differs from this program's Transformer.
std::vector<Table> presets_tables(int length);

/// One preset, runnable or not: the same row and how its attention grows.
std::vector<Table> preset_tables(const Preset& preset, const InspectOptions& options);

}  // namespace attn
