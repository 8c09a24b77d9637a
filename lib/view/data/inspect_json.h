// The reports of config/model_report.h as JSON for programs (docs/json.md).
#pragma once

#include "base/json.h"
#include "config/model_config.h"
#include "config/presets.h"
#include "record/attention_cost.h"
#include "record/receptive_field.h"
#include "view/inspect_options.h"

namespace attn {

/// A model: modules, multiply-adds, attention memory, growth, heads. `config` is valid; InputError
/// where a figure leaves 64 bits.
Json inspect_json(const ModelConfig& config, const InspectOptions& options);

/// All presets, with one attention layer's parameters and multiply-adds at `length`.
Json presets_json(int length);

/// One preset, runnable or not: the same object and how its attention grows.
Json preset_json(const Preset& preset, const InspectOptions& options);

/// What the encoder's tokens see after each layer, with the picture's cells.
Json receptive_field_json(const ReceptiveField& field);
/// Where the tokens decide: what holds for every sentence of so many, a layer each.
Json receptive_bounds_json(const std::vector<ReceptiveFieldBounds>& bounds, int tokens);

// What attention alone takes, as JSON for programs (docs/json.md).

/// {"attention":[…],"growth":[…]}; backward_seconds is null where only one way was measured.
Json attention_costs_json(const AttentionCosts& costs);

}  // namespace attn
