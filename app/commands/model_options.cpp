#include "commands/model_options.h"
#include "commands/help.h"

#include "commands/arguments.h"

namespace attn {
namespace {

constexpr const char* kDirectory =
    "Model directory (config.json, model.safetensors, …), or a shipped model's name";

}  // namespace

void ModelOptions::add_to(CLI::App& command) {
  command.add_option("--config", config, "Experiment file; its model gets random weights")
      ->type_name("FILE")
      ->group(help_group::model);
  command.add_option("--preset", preset, "The shape of a well-known model, with random weights")
      ->type_name("NAME")
      ->group(help_group::model);
  const auto number = [&](std::optional<std::uint64_t>& value, const WholeField& field,
                          const char* type, const char* help) {
    add_number(command, value, field, help)->type_name(type)->group(help_group::model);
  };
  number(seed, seed_field, "N", "Seed of random weights [1]");
  number(d_model, d_model_field, "N", "Width of the random model");
  number(layers, layers_field, "L", "Layers of the random model, in each stack");
  command
      .add_option("--set", overrides,
                  "Override a config key, section.key=value: --set model.d_model=24")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(help_group::model);
}

void ModelOptions::add_heads_to(CLI::App& command) {
  add_number(command, heads, heads_field, "Heads of the random model, in each stack")
      ->type_name("H")
      ->group(help_group::model);
}

void ModelOptions::add_model_to(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--model", [this](const std::string& directory) { models = {directory}; }, kDirectory)
      ->type_name("DIR")
      ->group(help_group::model);
}

void ModelOptions::add_models_to(CLI::App& command, bool ensembles) {
  add_directories_to(
      command,
      std::string(kDirectory) + (ensembles ? "; give several to translate with an ensemble" : ""));
}

void ModelOptions::add_directories_to(CLI::App& command, const std::string& description) {
  command.add_option("--model", models, description)
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false)
      ->group(help_group::model);
}

void ModelOptions::add_served_to(CLI::App& command) {
  add_directories_to(command, "Model directory; if several are given, the page offers a choice");
}

void ModelOptions::add_maps_of_to(CLI::App& command) {
  command
      .add_option("--maps-of", maps_of,
                  "With several --model, show the maps of this one: its number or DIR [1]")
      ->type_name("N|DIR")
      ->group(help_group::model);
}

void ModelOptions::add_globals_to(CLI::App& command) {
  command
      .add_option("--global", globals,
                  "Positions of the source's global tokens (LED and similar models): for example "
                  "0,5, or the word none [0]")
      ->type_name("N,N,…")
      ->group(help_group::model);
}

void ModelOptions::add_prefix_to(CLI::App& command) {
  command
      .add_option(
          "--prefix", prefix,
          "Text to put before every source text, such as T5's \"translate English to German: \"")
      ->type_name("TEXT")
      ->group(help_group::model);
}

void ModelOptions::add_precision_to(CLI::App& command) {
  command
      .add_option("--precision", precision,
                  "Precision of matrix multiplication: float32; int8 is faster and nearly the "
                  "same; bfloat16 is in between, on CPUs that support it [float32]")
      ->type_name(list_precisions("|", "|"))
      ->group(help_group::runs);
}

ModelChoice ModelOptions::choice() const {
  ModelChoice choice;
  choice.models = models;
  choice.maps_of = maps_of;
  choice.config = config;
  choice.preset = preset;
  choice.seed = seed;
  choice.d_model = d_model;
  choice.heads = heads;
  choice.layers = layers;
  choice.overrides = overrides;
  choice.globals = globals;
  choice.prefix = prefix;
  choice.precision = parse_precision(precision);
  return choice;
}

}  // namespace attn
