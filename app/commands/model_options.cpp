#include "commands/model_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/head_name.h"
#include "base/strings/excerpt.h"
#include "commands/arguments.h"

namespace attn {

void ModelOptions::add_to(CLI::App& command) {
  command.add_option("--config", config, "Experiment file; its model gets random weights")
      ->type_name("FILE");
  command.add_option("--preset", preset, "A well-known encoder-decoder shape, random weights")
      ->type_name("NAME");
  command.add_option("--seed", seed, "Seed of random weights [1]")
      ->type_name("N")
      ->each([this](const std::string&) { seed_given = true; });
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
  command.add_option("--model", model, "Model directory (config.json, model.safetensors, …)")
      ->type_name("DIR");
}

void ModelOptions::add_models_to(CLI::App& command) {
  add_directories_to(
      command, "Model directory (config.json, model.safetensors, …); several translate together");
}

void ModelOptions::add_directories_to(CLI::App& command, const std::string& description) {
  command
      .add_option_function<std::vector<std::string>>(
          "--model",
          [this](const std::vector<std::string>& directories) {
            model = directories.front();
            more_models.assign(directories.begin() + 1, directories.end());
          },
          description)
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

void ModelOptions::add_precision_to(CLI::App& command) {
  command
      .add_option(
          "--precision", precision,
          "Of the products with weights: float32, or int8: faster, nearly the same [float32]")
      ->type_name("float32|int8");
}

Backend ModelOptions::backend() const {
  const Backend by_default = default_backend();
  if (precision == "float32") return by_default;
  if (precision != "int8") {
    throw UsageError("--precision {}: expected float32 or int8", excerpt(precision));
  }
  if (by_default == Backend::plain) {
    throw UsageError(
        "--precision int8 does not go with ATTN_DEMO_BACKEND=plain, which has float32 "
        "alone");
  }
  return Backend::int8;
}

void ModelOptions::check_one_source() const {
  backend();
  const int given = !model.empty() + !config.empty() + !preset.empty();
  if (given > 1) {
    throw UsageError("--model, --config and --preset exclude each other; give one of them");
  }
  if (model.empty()) return;
  if (changes_shape() || !overrides.empty()) {
    throw UsageError(
        "--d-model, --heads, --layers and --set shape a random model; they cannot "
        "change the weights of --model {}",
        model);
  }
  if (seed_given) {
    throw UsageError("--seed makes random weights; --model {} brings its own", model);
  }
}

std::vector<std::string> ModelOptions::all_overrides() const {
  std::vector<std::string> all = overrides;
  const auto add = [&](const char* option, const std::string& text,
                       std::initializer_list<const char*> keys) {
    if (text.empty()) return;
    parse_whole(option, text, 1, std::uint64_t{1} << 62);
    for (const char* key : keys) all.push_back(fmt::format("model.{}={}", key, text));
  };
  add("--d-model", d_model, {"d_model"});
  add("--heads", heads, {"encoder_attention_heads", "decoder_attention_heads"});
  add("--layers", layers, {"encoder_layers", "decoder_layers"});
  return all;
}

std::uint64_t ModelOptions::seed_number() const {
  return parse_whole("--seed", seed, 0, ~std::uint64_t{0});
}

std::size_t ModelOptions::maps_index() const {
  if (maps_of.empty()) return 0;
  if (!several()) throw UsageError("--maps-of goes with several --model");
  if (maps_of == model) return 0;
  const auto named = std::ranges::find(more_models, maps_of);
  if (named != more_models.end()) return to_size(named - more_models.begin()) + 1;
  const std::size_t count = more_models.size() + 1;
  if (maps_of.size() == 1 && maps_of[0] >= '1' && to_size(maps_of[0] - '0') <= count) {
    return to_size(maps_of[0] - '1');
  }
  throw UsageError("--maps-of {}: expected 1 to {}, or one of the --model directories",
                   excerpt(maps_of), count);
}

std::vector<Index> ModelOptions::global_places(int positions) const {
  std::vector<Index> places;
  if (globals == "none") return places;
  for (const std::string_view place : split_at(globals, ',')) {
    places.push_back(
        to_index(parse_whole("--global", std::string(place), 0, to_size(positions - 1))));
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end()) {
    throw UsageError("--global {}: token {} is named twice", excerpt(globals), *twice);
  }
  return places;
}

}  // namespace attn
