// The options that say which model a command takes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/at.h"
#include "compute/matmul.h"

namespace attn {

/// --model, --config, --preset and what changes a random model, as typed.
struct ModelOptions {
  std::string model;
  std::vector<std::string> more_models;  ///< further --model, which translate together with it
  std::string maps_of;                   ///< which of them the maps are of
  std::string config;
  std::string preset;
  std::string seed = "1";
  std::string d_model;
  std::string heads;
  std::string layers;
  std::vector<std::string> overrides;
  std::string globals;  ///< --global: places of global tokens, "0,5"
  std::string precision = "float32";

  bool seed_given = false;

  /// Adds --config, --preset and what shapes a random model but --heads, which `inspect` reads
  /// in its own way.
  void add_to(CLI::App& command);
  void add_model_to(CLI::App& command);   ///< --model, once
  void add_models_to(CLI::App& command);  ///< --model, once or more
  void add_served_to(CLI::App& command);  ///< the same, for models that do not translate together
  void add_maps_of_to(CLI::App& command);
  void add_globals_to(CLI::App& command);    ///< --global
  void add_heads_to(CLI::App& command);      ///< --heads
  void add_precision_to(CLI::App& command);  ///< --precision
  bool several() const { return !more_models.empty(); }
  /// Which model --maps-of names, counted from 0; UsageError where it names none.
  std::size_t maps_index() const;
  bool changes_shape() const { return !d_model.empty() || !heads.empty() || !layers.empty(); }
  /// Whether something asks for random weights in place of the shipped model.
  bool asks_for_another() const { return changes_shape() || seed_given || !overrides.empty(); }

  /// UsageError where two sources are named, or one with what cannot change it.
  void check_one_source() const;
  /// --d-model, --heads and --layers as overrides of config keys, after the user's own --set.
  std::vector<std::string> all_overrides() const;
  std::uint64_t seed_number() const;
  /// What multiplies by the weights; UsageError where --precision names none.
  Backend backend() const;
  /// Places of --global in rising order, each once, below `positions`.
  std::vector<Index> global_places(int positions) const;

 private:
  void add_directories_to(CLI::App& command, const std::string& description);
};

}  // namespace attn
