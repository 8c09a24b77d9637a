// attn-demo train: trains a model from an experiment file, into a directory that belongs to the
// run.
#include <memory>
#include <string>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "service/search_settings.h"
#include "service/training/training_run.h"
#include "terminal/progress.h"
#include "terminal/stop_signal.h"

namespace attn {
namespace {

/// Shows the trainer's reports on stderr and as pictures.
class TerminalListener : public RunListener {
 public:
  TerminalListener(const std::string& directory, LossNames names)
      : RunListener(directory), progress_(names) {}

  void updated(const UpdateMetrics& metrics) override { progress_.update(metrics); }
  void validated(const ValidationMetrics& metrics) override { progress_.look(metrics); }
  void say(const std::string& text) override { progress_.say(printable(text)); }

 private:
  TrainingProgress progress_;
};

/// The options as typed.
struct TrainOptions {
  TrainingRequest request;
};

/// A training run in this process; signals stop it.
class CommandLineTraining : public TrainingFrontEnd {
 public:
  std::unique_ptr<RunListener> on_start(const std::string& directory, LossNames names) override {
    ignore_hangup();  // from tokenizer training on
    return std::make_unique<TerminalListener>(directory, names);
  }
  const std::atomic<int>& stop() override { return enable_graceful_stop(); }
};

void run_train(TrainOptions options) {
  CommandLineTraining owner;
  if (run_training(options.request, owner).stopped()) {
    throw StoppedBySignal{owner.stop()};
  }
}

}  // namespace

void add_train(CLI::App& app, Run& run) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model from an experiment file");
  command
      ->add_option("CONFIG", options->request.config,
                   "Experiment file: model, tokenizer, data, train")
      ->required()
      ->group(help_group::reads);
  command
      ->add_option("--out", options->request.out,
                   "Directory of the run: model/, checkpoints/, logs")
      ->type_name("DIR")
      ->required()
      ->group(help_group::makes);
  command
      ->add_option("--from", options->request.from,
                   "Start from the weights and the tokenizer of a model directory")
      ->type_name("DIR")
      ->group(help_group::model);
  command
      ->add_option(
          "--source-lang", options->request.languages.source,
          "Language of the sources, if the tokenizer knows several: de, deu_Latn or German")
      ->type_name("LANGUAGE")
      ->group(help_group::reads);
  command
      ->add_option("--target-lang", options->request.languages.target,
                   "Language of the targets, if the tokenizer knows several")
      ->type_name("LANGUAGE")
      ->group(help_group::reads);
  command
      ->add_flag("--resume", options->request.resume,
                 "Continue from the newest checkpoint in --out")
      ->group(help_group::makes);
  add_number(*command, options->request.threads, whole_field(search_option("threads")),
             "Number of threads [all cores]")
      ->type_name("N")
      ->group(help_group::runs);
  command
      ->add_option("--set", options->request.overrides,
                   "Override a config key, section.key=value: --set train.updates=100")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(help_group::model);
  command->footer(
      "Examples:\n  attn-demo train configs/toy.json --out toy\n  attn-demo translate --model "
      "toy/model \"The group went home\"\n  attn-demo train configs/toy.json --out toy --resume "
      "--set train.updates=2000\n\nThe first Ctrl-C finishes the update and saves; a second one "
      "quits at once.");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_train(*options); }; });
}

}  // namespace attn
