// attn-demo convert: copies a model directory into another number format, with checksums, ready for
// distribution.
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "config/custom_architecture.h"
#include "model/directory/model_directory.h"
#include "service/model/model_choice.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/progress.h"
#include "service/training/untrained_model.h"
#include "terminal/console.h"
#include "text/checksums.h"

namespace attn {
namespace {

struct ConvertOptions {
  std::string model;
  std::string out;
  std::string dtype = "float16";
};

void run_convert(const ConvertOptions& options) {
  const DType dtype = parse_dtype(options.dtype);
  ModelChoice source;
  source.models = {options.model};
  FileGuard guard;
  register_inputs(source, guard);
  NewDirectory directory(options.out);
  const ReadyModel model = open_or_make_model(source);
  note_all(model.notes);
  const DecodeConfig decode =
      resolve_decode_options(model.decode, model.default_forced_eos, options.model);
  const Progress progress("writing " + options.out);
  copy_tokenizer(model.tokenizer_directory, directory.temporary_path());
  save_model(*model.transformer, decode, directory.temporary_path(), dtype);
  write_checksums(directory.temporary_path());
  const MappedFile weights(directory.temporary_path() + "/model.safetensors");
  const auto size = static_cast<double>(weights.size());
  directory.commit();
  if (const auto own = custom_architecture_note(model.transformer->config())) note(*own);
  output().write(fmt::format("{}: {}, model.safetensors {}\n", printable(options.out),
                             options.dtype, human_bytes(size)));
}

}  // namespace

void add_convert(CLI::App& app, Run& run) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Convert a model to 8, 16 or 32 bits, with checksums");
  command->add_option("--model", options->model, "Model directory to read")
      ->type_name("DIR")
      ->required()
      ->group(help_group::model);
  command->add_option("--out", options->out, "Directory to make")
      ->type_name("DIR")
      ->required()
      ->group(help_group::makes);
  command->add_option("--dtype", options->dtype, "Number format of the stored weights [float16]")
      ->type_name("float16|bfloat16|float32|int8")
      ->group(help_group::makes);
  command->footer(
      "Example:\n"
      "  attn-demo convert --model data/models/en-de --dtype bfloat16 --out en-de-16\n"
      "  (cd en-de-16 && sha256sum --check SHA256SUMS)");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_convert(*options); }; });
}

}  // namespace attn
