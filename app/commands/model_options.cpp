#include "commands/model_options.h"

#include <cstdint>
#include <optional>

namespace attn {

void ModelOptions::add_to(CLI::App& command) {
  command.add_option("--config", config, "Experiment file; its model gets random weights")
      ->type_name("FILE");
  command.add_option("--preset", preset, "A well-known encoder-decoder shape, random weights")
      ->type_name("NAME");
  command.add_option("--seed", seed, "Seed of random weights [1]")->type_name("N");
  command.add_option("--d-model", d_model, "Width of the random model")->type_name("N");
  command.add_option("--layers", layers, "Layers of the random model, both stacks")->type_name("L");
  command
      .add_option("--set", overrides,
                  "Override a config key, section.key=value: --set model.d_model=24")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

void ModelOptions::add_heads_to(CLI::App& command) {
  command.add_option("--heads", heads, "Heads of the random model, both stacks")->type_name("H");
}

void ModelOptions::add_model_to(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--model", [this](const std::string& directory) { models = {directory}; },
          "Model directory (config.json, model.safetensors, …)")
      ->type_name("DIR");
}

void ModelOptions::add_models_to(CLI::App& command) {
  add_directories_to(
      command, "Model directory (config.json, model.safetensors, …); several translate together");
}

void ModelOptions::add_directories_to(CLI::App& command, const std::string& description) {
  command.add_option("--model", models, description)
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
}

void ModelOptions::add_served_to(CLI::App& command) {
  add_directories_to(command, "Model directory; of several, the page lets one choose");
}

void ModelOptions::add_maps_of_to(CLI::App& command) {
  command
      .add_option("--maps-of", maps_of,
                  "Of several --model, the one whose maps are shown: its number or DIR [1]")
      ->type_name("N|DIR");
}

void ModelOptions::add_globals_to(CLI::App& command) {
  command
      .add_option("--global", globals,
                  "Places of the source's global tokens, for LED and other models that have them: "
                  "0,5; none [0]")
      ->type_name("N,N,…");
}

void ModelOptions::add_prefix_to(CLI::App& command) {
  command
      .add_option("--prefix", prefix,
                  "What every source text begins with: T5's \"translate English to German: \"")
      ->type_name("TEXT");
}

void ModelOptions::add_precision_to(CLI::App& command) {
  command
      .add_option("--precision", precision,
                  "Of the products with weights: float32; int8: faster, nearly the same; bfloat16: "
                  "between them, on CPUs that multiply it [float32]")
      ->type_name("float32|bfloat16|int8");
}

ModelChoice ModelOptions::choice() const {
  const auto whole = [](const WholeField& field, const std::string& text) {
    return text.empty() ? std::optional<std::uint64_t>() : parse_whole(field, text);
  };
  ModelChoice choice;
  choice.models = models;
  choice.maps_of = maps_of;
  choice.config = config;
  choice.preset = preset;
  choice.seed = whole(seed_field, seed);
  choice.d_model = whole(d_model_field, d_model);
  choice.heads = whole(heads_field, heads);
  choice.layers = whole(layers_field, layers);
  choice.overrides = overrides;
  choice.globals = globals;
  choice.prefix = prefix;
  choice.precision = parse_precision(precision);
  return choice;
}

}  // namespace attn
