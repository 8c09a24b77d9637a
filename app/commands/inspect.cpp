// attn-demo inspect: the contents and costs of a model, a config or a preset.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "config/attention_site.h"
#include "config/patterns/sparse_pattern.h"
#include "config/presets.h"
#include "files/output_file.h"
#include "raster/svg_export.h"
#include "service/measure/attention_patterns.h"
#include "service/model/languages.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "terminal/console.h"
#include "view/data/attention_csv.h"
#include "view/data/inspect_json.h"
#include "view/svg/attention_patterns_svg.h"
#include "view/terminal/attention_patterns_text.h"
#include "view/terminal/inspect_tables.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

constexpr int kLongest = 1'000'000'000;

struct InspectArguments {
  ModelOptions source;
  std::string heads, lengths, json, attention, svg, png, csv;
  int source_length = 20, target_length = 20, length = 128, head_dim = 64, threads = 1;
  float dropout = 0;
  bool presets = false, languages = false, causal = false, backward = false,
       receptive_field = false, length_given = false, dropout_given = false;
};

std::vector<int> parse_list(std::string_view field, const std::string& text, int high) {
  std::vector<int> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view number : split_at(text, ',')) {
    numbers.push_back(to_int(parse_whole({field, 1, to_size(high)}, std::string(number))));
  }
  return numbers;
}

/// Returns the output files, by option.
std::vector<std::pair<const char*, const std::string*>> outputs_of(
    const InspectArguments& arguments) {
  return {{"--json", &arguments.json},
          {"--csv", &arguments.csv},
          {"--svg", &arguments.svg},
          {"--png", &arguments.png}};
}

/// True if an output file is stdout, as with --svg -.
bool stdout_is_taken(const InspectArguments& arguments) {
  const auto outputs = outputs_of(arguments);
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const auto& output) { return *output.second == "-"; });
}

/// Prints the report as tables or, on request, as JSON.
void print(const InspectArguments& arguments, const std::vector<Table>& tables, const Json& json) {
  const std::string line = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (arguments.json == "-") {
    output().write(line);
    return;
  }
  if (!arguments.json.empty()) write_output(arguments.json, line);
  if (stdout_is_taken(arguments)) return;
  output().write(render_tables(tables, terminal_style().width));
}

/// Throws UsageError if an item is repeated.
template <typename T>
void refuse_repeats(const char* option, std::vector<T> list) {
  std::sort(list.begin(), list.end());
  const auto twice = std::adjacent_find(list.begin(), list.end());
  if (twice == list.end()) return;
  throw UsageError("{} has {} twice; leave one of them out", option, *twice);
}

/// Throws UsageError if a model is named that `what` does not use.
void refuse_model(const ModelOptions& source, const char* what) {
  for (const auto& [option, given] : {std::pair{"--model", !source.models.empty()},
                                      {"--config", !source.config.empty()},
                                      {"--preset", !source.preset.empty()}}) {
    if (given) throw UsageError("{}; leave {} out", what, option);
  }
}

/// Rejects options that have no meaning with --attention.
void check_attention_options(const InspectArguments& arguments) {
  constexpr const char* kWhat = "--attention measures kinds with random numbers, without a model";
  refuse_model(arguments.source, kWhat);
  if (arguments.presets) throw UsageError("{}; leave --presets out", kWhat);
  if (arguments.length_given) {
    throw UsageError("--attention needs --lengths; write --lengths {}", arguments.length);
  }
  if (arguments.dropout_given && !arguments.backward) {
    throw UsageError("--dropout applies to training only; add --backward, or leave it out");
  }
}

std::vector<AttentionBenchmark> trials_of(const InspectArguments& arguments) {
  check_attention_options(arguments);
  const std::vector<int> lengths =
      parse_list("lengths", arguments.lengths.empty() ? "2048,8192" : arguments.lengths,
                 ModelLimits::positions);
  refuse_repeats("--lengths", lengths);
  AttentionBenchmark trial;
  trial.heads =
      to_index(parse_whole({"heads", 1, 65'536}, arguments.heads.empty() ? "8" : arguments.heads));
  trial.head_dim = arguments.head_dim;
  trial.threads = arguments.threads;
  trial.dropout = arguments.dropout;
  trial.causal = arguments.causal;
  trial.backward = arguments.backward;
  std::vector<AttentionBenchmark> trials;
  const std::vector<std::string> kinds = patterns_to_benchmark(arguments.attention, trial.causal);
  refuse_repeats("--attention", kinds);
  for (const std::string& kind : kinds) {
    for (const int length : lengths) {
      trial.length = length;
      trial.pattern = pattern_for_benchmark(kind, length, trial.causal);
      trials.push_back(trial);
    }
  }
  return trials;
}

/// --attention: reports the cost of kinds of attention as a table, a picture, CSV or JSON.
void report_attention(const InspectArguments& arguments) {
  const AttentionCosts costs = benchmark_attention(trials_of(arguments));
  if (!arguments.csv.empty()) write_output(arguments.csv, attention_costs_csv(costs));
  if (!arguments.svg.empty() || !arguments.png.empty()) {
    const std::string svg = attention_costs_svg(costs);
    if (!arguments.svg.empty()) write_output(arguments.svg, svg);
    if (!arguments.png.empty()) write_output(arguments.png, svg_to_png(svg, 2));
  }
  print(arguments, attention_cost_tables(costs), attention_costs_json(costs));
}

/// --receptive-field for lsh, where the field depends on the tokens: reports what always holds.
void report_hashed_field(const InspectArguments& arguments, const ModelShape& shape, int tokens) {
  if (!arguments.svg.empty() || !arguments.png.empty()) {
    throw InputError(
        "{}: with encoder_attention.type \"lsh\", the tokens that a token sees depend on the "
        "sentence, so there is no picture for all sentences; leave --{} out, or translate a "
        "sentence with --html",
        shape.name, arguments.svg.empty() ? "png" : "svg");
  }
  const AttentionPattern& pattern = shape.config.encoder_attention;
  const std::vector<ReceptiveFieldBounds> bounds = lsh_receptive_field_bounds(
      tokens, pattern.block_size, pattern.rounds, shape.config.encoder_layers);
  print(arguments,
        {receptive_bounds_table(bounds,
                                fmt::format("Receptive field of {}: {}", counted(tokens, "token"),
                                            describe_pattern(pattern)))},
        receptive_bounds_json(bounds, tokens));
}

/// --receptive-field: shows how far the encoder's tokens see, as a table and a picture.
void report_receptive_field(const InspectArguments& arguments) {
  if (arguments.presets || !arguments.attention.empty()) {
    throw UsageError("--receptive-field needs one model; leave --{} out",
                     arguments.presets ? "presets" : "attention");
  }
  const ModelShape shape = read_shape(arguments.source.choice());
  const ModelConfig& config = shape.config;
  const int most = std::min(max_receptive_tokens, config.max_positions);
  const int tokens = arguments.length_given
                         ? checked_whole({"length", 1, to_size(most)}, arguments.length)
                         : std::min(most, 128);
  if (sparse_pattern(config.encoder_attention).is_content_based()) {
    report_hashed_field(arguments, shape, tokens);
    return;
  }
  const TerminalStyle style = terminal_style();
  const auto field = [&](int side) { return encoder_receptive_field(config, tokens, side); };
  const std::string pattern = describe_pattern(config.encoder_attention);
  if (!arguments.svg.empty() || !arguments.png.empty()) {
    const std::string svg = receptive_field_svg(
        field(max_receptive_svg_blocks),
        fmt::format("{} · {} · {} · {}",
                    printable(std::filesystem::path(shape.name).filename().string()), pattern,
                    counted(tokens, "token"), counted(config.encoder_layers, "layer")));
    if (!arguments.svg.empty()) write_output(arguments.svg, svg);
    if (!arguments.png.empty()) write_output(arguments.png, svg_to_png(svg, 2));
  }
  const ReceptiveField shown = field(max_receptive_blocks(style));
  print(
      arguments,
      {receptive_field_table(
          shown, fmt::format("Receptive field of {}: {}", counted(tokens, "token"), pattern))},
      arguments.json.empty() ? Json() : receptive_field_json(field(tokens > 1024 ? 256 : tokens)));
  if (!stdout_is_taken(arguments)) output().write("\n" + receptive_field_text(shown, style));
}

/// Rejects pictures that cannot be drawn, and files that conflict with other inputs or outputs.
void check_files(const InspectArguments& arguments) {
  if (!arguments.receptive_field && arguments.attention.empty()) {
    for (const auto& [option, file] :
         {std::pair{"--svg", &arguments.svg}, {"--png", &arguments.png}}) {
      if (file->empty()) continue;
      throw UsageError("{} draws what --receptive-field or --attention shows; add one of them",
                       option);
    }
  }
  FileGuard guard;
  if (!arguments.presets) register_inputs(arguments.source.choice(), guard);
  const char* first = nullptr;  // the first that writes to stdout
  for (const auto& [option, file] : outputs_of(arguments)) {
    guard.write(option, *file);
    if (*file != "-") continue;
    if (first != nullptr) {
      throw UsageError("{} - and {} - cannot both go to stdout; name a file", first, option);
    }
    first = option;
  }
}

void report_presets(const InspectArguments& arguments) {
  refuse_model(arguments.source, "--presets lists the well-known shapes");
  std::vector<Table> tables = presets_tables(arguments.length);
  tables[0].notes.push_back("--preset NAME runs those that are both, with random weights.");
  tables[1].title = "Names for --preset, and what differs from this program's Transformer";
  print(arguments, tables, presets_json(arguments.length));
}

/// --languages: lists the language tokens of a model's tokenizer.
void report_languages(const InspectArguments& arguments) {
  const ModelShape shape = read_shape(arguments.source.choice());
  if (shape.directory.empty()) {
    throw UsageError("--languages lists those of a model directory; give --model DIR");
  }
  const Tokenizer tokenizer(shape.directory);
  const Languages& languages = tokenizer.languages();
  Table table{.title = shape.name + ": " + counted(languages.tokens.size(), "language"),
              .columns = {{"code"}, {"language"}, {"token"}, {"id", true}},
              .rows = {},
              .notes = {}};
  Json json = Json::array();
  const std::vector<std::string> names = language_names(languages);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const LanguageToken& token = languages.tokens[i];
    const std::string& piece = tokenizer.source_token(token.id);
    table.rows.push_back({token.code, names[i], piece, std::to_string(token.id)});
    json.push_back({{"code", token.code}, {"name", names[i]}, {"token", piece}, {"id", token.id}});
  }
  if (!languages.tokens.empty()) {
    table.notes.push_back("--target-lang chooses one: its code, another of ISO 639, or its name.");
  } else {
    table.notes.push_back(
        "Its tokenizer has no token for any: it translates between the two that it learned.");
  }
  print(arguments, {table}, {{"languages", json}});
}

/// Reports shapes, parameters and costs.
void report_model(const InspectArguments& arguments) {
  InspectOptions options;
  options.source_length = arguments.source_length;
  options.target_length = arguments.target_length;
  const std::vector<int> heads = parse_list("heads", arguments.heads, kLongest);
  if (!arguments.lengths.empty()) {
    options.lengths = parse_list("lengths", arguments.lengths, kLongest);
  }
  const ModelChoice choice = arguments.source.choice();
  if (!choice.preset.empty() && choice.config.empty() && choice.models.empty()) {
    const Preset& preset = named_preset(choice.preset);
    if (preset.kind != ModelArchitecture::encoder_decoder) {
      options.name = preset.title;
      print(arguments, preset_tables(preset, options), preset_json(preset, options));
      return;
    }
  }
  const ModelShape shape = read_shape(choice);
  options.name = shape.name;
  options.unknown_keys = shape.unknown_keys;
  options.notes = shape.notes;
  if (!shape.instead.empty()) say(shape.instead);
  options.only_heads = !heads.empty();
  options.only_growth = !arguments.lengths.empty();
  options.heads = heads_report(shape.config, heads, options.source_length, "--heads");
  print(arguments, inspect_tables(shape.config, options), inspect_json(shape.config, options));
}

void run_inspect(const InspectArguments& arguments) {
  check_files(arguments);
  if (arguments.receptive_field) return report_receptive_field(arguments);
  if (!arguments.attention.empty()) return report_attention(arguments);
  if (arguments.presets) return report_presets(arguments);
  if (arguments.languages) return report_languages(arguments);
  report_model(arguments);
}

/// Adds --attention and its related options.
void add_measuring_to(CLI::App& command, InspectArguments& arguments) {
  CLI::Option* attention =
      command
          .add_option("--attention", arguments.attention,
                      "Measure kinds of attention at --lengths: full,window,longformer,… or all")
          ->type_name("KIND,…")
          ->group(help_group::measured);
  command.add_option("--csv", arguments.csv, "Write what was measured as CSV")
      ->type_name("FILE")
      ->needs(attention)
      ->group(help_group::files);
  add_number(command, arguments.head_dim, WholeField{"head_dim", 1, 65'536},
             "Columns of a head to measure [64]")
      ->type_name("K")
      ->needs(attention)
      ->group(help_group::measured);
  add_number(command, arguments.threads, WholeField{"threads", 1, 1024},
             "Threads to measure with [1]")
      ->type_name("N")
      ->needs(attention)
      ->group(help_group::runs);
  command.add_flag("--causal", arguments.causal, "Measure causal attention")
      ->needs(attention)
      ->group(help_group::measured);
  command.add_flag("--backward", arguments.backward, "Measure training: forward and backward")
      ->needs(attention)
      ->group(help_group::measured);
  add_number(command, arguments.dropout, DecimalField{"dropout", 0, 0.99},
             "Dropout of the attention weights, with --backward [0]")
      ->type_name("P")
      ->needs(attention)
      ->group(help_group::measured);
}

/// Adds the options for the number of tokens that costs are computed for.
void add_lengths_to(CLI::App& command, InspectArguments& arguments) {
  const auto length = [&](const char* field, int& value, const char* help) {
    add_number(command, value, WholeField{field, 1, kLongest}, help)
        ->type_name("N")
        ->group(help_group::terminal);
  };
  length("source_length", arguments.source_length, "Source tokens [20]");
  length("target_length", arguments.target_length, "Target tokens [20]");
  command
      .add_option("--lengths", arguments.lengths, "Only show the cost at these lengths: 16,64,256")
      ->type_name("N,N,…")
      ->group(help_group::terminal);
  command.add_flag("--presets", arguments.presets, "List the well-known shapes")
      ->group(help_group::terminal);
}

}  // namespace

void add_inspect(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Show shapes, parameters and costs of a model, config or preset");
  arguments->source.add_model_to(*command);
  arguments->source.add_to(*command);
  command->add_option("--heads", arguments->heads, "Only compare these head counts: 2,3,4,6")
      ->type_name("H,H,…")
      ->group(help_group::model);
  add_lengths_to(*command, *arguments);
  command
      ->add_flag("--languages", arguments->languages,
                 "List the languages that the model's tokenizer knows")
      ->group(help_group::terminal);
  CLI::Option* length = add_number(*command, arguments->length, WholeField{"length", 1, kLongest},
                                   "Number of tokens for --presets and --receptive-field [128]")
                            ->type_name("N")
                            ->group(help_group::terminal);
  add_color_to(*command);
  command
      ->add_flag("--receptive-field", arguments->receptive_field,
                 "Show how far the encoder's tokens see after each layer")
      ->group(help_group::terminal);
  const auto file = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->type_name("FILE")->group(help_group::files);
  };
  file("--svg", arguments->svg, "Draw the receptive field, or what --attention measured");
  file("--png", arguments->png, "The same as PNG");
  add_measuring_to(*command, *arguments);
  file("--json", arguments->json, "Write the report as JSON; - is stdout, with nothing else");
  command->footer(
      "Examples:\n"
      "  attn-demo inspect --config configs/demo.json --heads 2,3,4,6\n"
      "  attn-demo inspect --model data/models/en-de --source-length 40\n"
      "  attn-demo inspect --presets\n"
      "  attn-demo inspect --preset bert-base\n"
      "  attn-demo inspect --config configs/demo.json --receptive-field --length 24\n"
      "  attn-demo inspect --attention full,longformer --lengths 1024,4096 --threads 2");
  refuse_empty_values(*command, {});
  command->callback([arguments, length, dropout = command->get_option("--dropout"), &run] {
    arguments->length_given = length->count() > 0;
    arguments->dropout_given = dropout->count() > 0;
    run = [arguments] { run_inspect(*arguments); };
  });
}

}  // namespace attn
