// The reports of config/model_report.h as JSON for programs (docs/json.md).
#pragma once

#include "base/json.h"
#include "config/model_config.h"
#include "config/presets.h"
#include "record/attention_cost.h"
#include "record/receptive_field.h"
#include "view/inspect_options.h"

namespace attn {

/// Returns a model's modules, multiply-adds, attention memory, growth and heads. `config` must be
/// valid. Throws InputError if a number does not fit into 64 bits.
Json inspect_json(const ModelConfig& config, const InspectOptions& options);

/// Returns all presets, with the parameters and multiply-adds of one attention layer at `length`.
Json presets_json(int length);

/// Returns one preset, runnable or not: the same object, and how the cost of its attention grows.
Json preset_json(const Preset& preset, const InspectOptions& options);

/// Returns which tokens the encoder's tokens see after each layer, with the picture's cells.
Json receptive_field_json(const ReceptiveField& field);
/// Returns, for each layer, bounds that hold for every sentence of `tokens` tokens; for patterns
/// that depend on the tokens.
Json receptive_bounds_json(const std::vector<ReceptiveFieldBounds>& bounds, int tokens);

// The measured costs of attention alone, as JSON for programs (docs/json.md).

/// Returns {"attention":[…],"growth":[…]}; backward_seconds is null if only the forward pass was
/// measured.
Json attention_costs_json(const AttentionCosts& costs);

}  // namespace attn
