// The reports of model_report.h as tables for people and as JSON for programs: what
// `attn-demo inspect` prints.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/table.h"
#include "config/model_config.h"
#include "config/presets.h"

namespace attn {

struct InspectOptions {
  std::string name;        ///< of the model: directory, config or preset as the user named it
  int source_length = 20;  ///< S, with </s>; at least 1
  int target_length = 20;  ///< L, with </s>; at least 1
  std::vector<int> heads;  ///< of --heads; empty: no such table
  std::vector<int> lengths = {16, 32, 64, 128, 256, 512, 1024};  ///< of the growth table
  std::vector<std::string> unknown_keys;                         ///< of config.json
  std::vector<std::string> notes;
};

/// 12345 as "12,345".
std::string with_separators(std::uint64_t number);

/// The tables of a model: what it is, modules, multiply-adds, attention memory, growth, heads.
/// `config` is valid; InputError for a bad head count of `options`.
std::vector<Table> inspect_tables(const ModelConfig& config, const InspectOptions& options);
Json inspect_json(const ModelConfig& config, const InspectOptions& options);

/// All presets, with one attention layer's parameters and multiply-adds at `length`.
std::vector<Table> presets_tables(int length);
Json presets_json(int length);

/// One preset for inspecting, runnable or not: the same row and how its attention grows.
std::vector<Table> preset_tables(const Preset& preset, const InspectOptions& options);
Json preset_json(const Preset& preset, const InspectOptions& options);

}  // namespace attn
