// attn-demo init: writes random weights as a model directory that transformers and CTranslate2 can
// load.
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/model_options.h"
#include "config/custom_architecture.h"
#include "model/directory/model_directory.h"
#include "service/model/model_choice.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/progress.h"
#include "service/training/untrained_model.h"
#include "terminal/console.h"

namespace attn {
namespace {

struct InitOptions {
  ModelOptions source;
  std::string out;
  std::string dtype = "float32";
};

void run_init(const InitOptions& options) {
  const DType dtype = parse_dtype(options.dtype);
  const ModelChoice choice = options.source.choice();
  if (options.source.config.empty() && options.source.preset.empty()) {
    throw UsageError("init needs --config FILE or --preset NAME; configs/demo.json is an example");
  }
  if (!options.source.config.empty() && !options.source.preset.empty()) {
    throw UsageError("--config and --preset exclude each other; choose one");
  }
  FileGuard guard;
  register_inputs(choice, guard);
  NewDirectory directory(options.out);
  const ReadyModel model = open_or_make_model(choice);
  note_all(model.notes);
  const DecodeConfig decode =
      resolve_decode_options(model.decode, model.default_forced_eos, options.source.config);
  const Progress progress("writing " + options.out);
  copy_tokenizer(model.tokenizer_directory, directory.temporary_path());
  save_model(*model.transformer, decode, directory.temporary_path(), dtype);
  directory.commit();
  if (const auto own = custom_architecture_note(model.transformer->config())) note(*own);
  output().write(fmt::format("{}: {} model with random weights (seed {})\n", printable(options.out),
                             model.transformer->config().model_type, *model.seed));
}

}  // namespace

void add_init(CLI::App& app, Run& run) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command =
      app.add_subcommand("init", "Write a random model as a directory that transformers loads");
  options->source.add_to(*command);
  options->source.add_heads_to(*command);
  command->add_option("--out", options->out, "Directory to make")
      ->type_name("DIR")
      ->required()
      ->group(help_group::makes);
  command->add_option("--dtype", options->dtype, "Number format of the stored weights [float32]")
      ->type_name("float32|float16|bfloat16|int8")
      ->group(help_group::makes);
  command->footer(
      "Example:\n  attn-demo init --config configs/demo.json --seed 7 --out my-model\n"
      "  attn-demo translate --model my-model \"The group went home\"");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_init(*options); }; });
}

}  // namespace attn
