// The options that choose a command's model.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "service/model/model_choice.h"

namespace attn {

/// --model, --config, --preset and the options that shape a random model, as typed.
struct ModelOptions {
  std::vector<std::string> models;
  std::string maps_of, config, preset, globals, prefix;
  std::optional<std::uint64_t> seed, d_model, heads, layers;
  std::vector<std::string> overrides;
  std::string precision = "float32";

  /// Adds --config, --preset and the options that shape a random model, except --heads, which
  /// `inspect` parses differently.
  void add_to(CLI::App& command);
  void add_model_to(CLI::App& command);  ///< --model, once
  /// Adds --model, once or more. `ensembles`: several models translate together.
  void add_models_to(CLI::App& command, bool ensembles = true);
  void add_served_to(CLI::App& command);  ///< the same, for models that are served separately
  void add_maps_of_to(CLI::App& command);
  void add_globals_to(CLI::App& command);    ///< --global
  void add_prefix_to(CLI::App& command);     ///< --prefix
  void add_heads_to(CLI::App& command);      ///< --heads
  void add_precision_to(CLI::App& command);  ///< --precision

  /// Throws UsageError for an invalid value.
  ModelChoice choice() const;

 private:
  void add_directories_to(CLI::App& command, const std::string& description);
};

}  // namespace attn
