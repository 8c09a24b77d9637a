// attn-demo inspect: what is in a model, a config or a preset, and what it costs.
#include <memory>
#include <sstream>

#include "arguments.h"
#include "base/at.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands.h"
#include "config/presets.h"
#include "console.h"
#include "file_guard.h"
#include "model_source.h"
#include "output_file.h"
#include "view/data/inspect_json.h"
#include "view/terminal/inspect_tables.h"
#include "view/terminal/table_text.h"

namespace attn {
namespace {

struct InspectArguments {
  ModelOptions source;
  std::string heads, source_length = "20", target_length = "20", lengths, length = "128", json;
  bool presets = false;
};

std::vector<int> parse_list(const std::string& option, const std::string& text, int high) {
  std::vector<int> numbers;
  if (text.empty()) return numbers;
  std::size_t start = 0;
  for (;;) {
    const std::size_t comma = text.find(',', start);
    numbers.push_back(
        to_int(parse_whole(option, text.substr(start, comma - start), 1, to_size(high))));
    if (comma == std::string::npos) return numbers;
    start = comma + 1;
  }
}

/// The same report as tables for people, or as JSON for programs.
void print(const InspectArguments& arguments, const std::vector<Table>& tables, const Json& json) {
  const std::string line = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (arguments.json == "-") {
    output().write(line);
    return;
  }
  if (!arguments.json.empty()) deliver(arguments.json, line);
  output().write(render_tables(tables, terminal_style().width));
}

void run_inspect(const InspectArguments& arguments) {
  FileGuard guard;
  if (!arguments.presets) tell_inputs(arguments.source, guard);
  guard.write("--json", arguments.json);
  constexpr int kLongest = 1'000'000'000;
  if (arguments.presets) {
    const int length = to_int(parse_whole("--length", arguments.length, 1, kLongest));
    std::vector<Table> tables = presets_tables(length);
    tables[0].notes.push_back("--preset NAME runs those that are both, with random weights.");
    tables[1].title = "Names for --preset, and what differs from this program's Transformer";
    print(arguments, tables, presets_json(length));
    return;
  }
  InspectOptions options;
  options.source_length =
      to_int(parse_whole("--source-length", arguments.source_length, 1, kLongest));
  options.target_length =
      to_int(parse_whole("--target-length", arguments.target_length, 1, kLongest));
  const std::vector<int> heads = parse_list("--heads", arguments.heads, kLongest);
  if (!arguments.lengths.empty()) {
    options.lengths = parse_list("--lengths", arguments.lengths, kLongest);
  }
  if (!arguments.source.preset.empty() && arguments.source.config.empty() &&
      arguments.source.model.empty()) {
    const Preset& preset = named_preset(arguments.source.preset);
    if (preset.kind != PresetKind::encoder_decoder) {
      options.name = preset.title;
      print(arguments, preset_tables(preset, options), preset_json(preset, options));
      return;
    }
  }
  const ModelShape shape = read_shape(arguments.source);
  options.name = shape.name;
  options.unknown_keys = shape.unknown_keys;
  options.notes = shape.notes;
  options.heads = heads_report(shape.config, heads, options.source_length, "--heads");
  print(arguments, inspect_tables(shape.config, options), inspect_json(shape.config, options));
}

}  // namespace

void add_inspect(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "Shapes, parameters and costs of a model, config or preset");
  arguments->source.add_model_to(*command);
  arguments->source.add_to(*command);
  command->add_option("--heads", arguments->heads, "Compare these head counts: 2,3,4,6")
      ->type_name("H,H,…");
  command->add_option("--source-length", arguments->source_length, "Source tokens [20]")
      ->type_name("N");
  command->add_option("--target-length", arguments->target_length, "Target tokens [20]")
      ->type_name("N");
  command->add_option("--lengths", arguments->lengths, "Lengths of the growth table: 16,64,256")
      ->type_name("N,N,…");
  command->add_flag("--presets", arguments->presets, "List the well-known shapes");
  command->add_option("--length", arguments->length, "Tokens for --presets' figures [128]")
      ->type_name("N");
  command->add_option("--json", arguments->json, "Write the report as JSON; - is stdout, alone")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  attn-demo inspect --config configs/demo.json --heads 2,3,4,6\n"
      "  attn-demo inspect --model data/models/en-de --source-length 40\n"
      "  attn-demo inspect --presets\n"
      "  attn-demo inspect --preset bert-base");
  refuse_empty_values(*command, {});
  command->callback([arguments, &run] { run = [arguments] { run_inspect(*arguments); }; });
}

}  // namespace attn
