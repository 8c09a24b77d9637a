#include "training_run.h"

#include <filesystem>
#include <memory>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "experiment_tokenizer.h"
#include "files/file_guard.h"
#include "files/new_directory.h"
#include "hub_cache.h"
#include "model/directory/model_directory.h"
#include "model_source.h"
#include "record/json/record_json.h"
#include "run_directory.h"
#include "start_model.h"
#include "train/run/run_identity.h"
#include "train/trainer.h"
#include "train/training_memory.h"
#include "view/svg/curve_svg.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class TrainingRun {
 public:
  TrainingRun(const TrainOptions& options, RunOwner& owner) : options_(options), owner_(owner) {
    if (!options_.from.empty()) options_.from = model_directory(options_.from);
    set_threads(options.threads.empty()
                    ? available_cores()
                    : to_int(parse_whole("--threads", options.threads, 1, 1024)));
  }

  TrainingEnd run() {
    experiment_ = read_with_overrides(options_.config, options_.overrides);
    std::string note;
    if (!options_.from.empty()) note = start_from(experiment_, options_.from);
    check_experiment();
    ParallelText text = read_parallel(experiment_.data.train);
    std::optional<ParallelText> dev;
    if (!experiment_.data.dev.source.empty()) dev = read_parallel(experiment_.data.dev);
    check_memory();
    check_files();
    const std::string config = config_as_used();
    const bool smoothed = experiment_.train.label_smoothing > 0;
    const std::unique_ptr<RunListener> listens =
        owner_.begins(options_.out, smoothed ? LossNames::smoothed : LossNames::plain);
    RunListener& listener = *listens;
    directory_ = std::make_unique<RunDirectory>(options_.out, options_.resume);
    if (!note.empty()) listener.say(note);
    const std::string tokenizer_directory = prepare_tokenizer(listener);
    const Tokenizer tokenizer(tokenizer_directory);
    const double sampling = experiment_.tokenizer.sampling;
    if (sampling > 0) tokenizer.require_sampling(sampling, options_.config);

    TrainerSetup setup;
    setup.directory = options_.out;
    setup.train = experiment_.train;
    setup.model = experiment_.model;
    fit_to_tokenizer(setup.model, tokenizer, options_.config);
    setup.decode = resolve(with_own_defaults(experiment_.decode, setup.model),
                           setup.model.eos_token_id, options_.config);
    setup.tokenizer_directory = tokenizer_directory;
    {
      const Progress progress(fmt::format("cutting {} pairs into pieces", text.source.size()));
      setup.corpus = make_corpus(text, tokenizer, most_tokens());
    }
    report_corpus(setup.corpus, text, listener);
    if (sampling > 0) {
      const SamplingSettings settings{sampling, experiment_.train.seed, most_tokens()};
      setup.sampled.emplace(text, setup.corpus, tokenizer, settings);
    }
    text = {};
    require_memory_for(setup.model, setup.sampled ? largest_batch(*setup.sampled, experiment_.train)
                                                  : largest_batch(setup.corpus, experiment_.train));
    setup.dev = std::move(dev);
    setup.probe = experiment_.data.probe;
    setup.probe_target = experiment_.data.probe_target;
    setup.identity = run_identity(experiment_, setup.model, tokenizer_directory, options_.from);
    if (!options_.from.empty()) {
      // What a checkpoint holds takes its place; without one this is where training begins.
      setup.start =
          std::make_shared<Transformer>(load_model(options_.from, default_backend()).transformer);
    }
    setup.title = fs::path(options_.config).stem().string();
    Trainer trainer(std::move(setup), tokenizer, listener);
    if (options_.resume && !trainer.resume()) {
      listener.say("note: no checkpoint yet in " + options_.out + "; training begins anew");
    }
    const bool stays = has_own_config() && options_.overrides.empty();
    directory_->begin(stays ? std::nullopt : std::optional(config));
    return train(trainer, listener);
  }

 private:
  void check_experiment() const {
    const auto need = [&](const std::string& path, const char* key) {
      if (path.empty()) throw InputError("{}: {} is missing; name a file", options_.config, key);
    };
    need(experiment_.data.train.source, "data.train.source");
    need(experiment_.data.train.target, "data.train.target");
    if (!experiment_.data.dev.source.empty() || !experiment_.data.dev.target.empty()) {
      need(experiment_.data.dev.source, "data.dev.source");
      need(experiment_.data.dev.target, "data.dev.target");
    }
    const TrainConfig& c = experiment_.train;
    const bool by_patience = c.patience > 0 && !experiment_.data.dev.source.empty();
    if (c.updates == 0 && c.epochs == 0 && !by_patience) {
      throw InputError(
          "{}: nothing would end the training; set train.updates, train.epochs, or train.patience "
          "with data.dev",
          options_.config);
    }
    if (experiment_.tokenizer.model.empty() && experiment_.tokenizer.type.empty()) {
      throw InputError(
          "{}: section tokenizer names neither a type nor a model; add \"tokenizer\": {{\"type\": "
          "\"unigram\", \"vocab_size\": 8000}}",
          options_.config);
    }
    for (const char* keys : {"tokenizer.", "data.train.", "data.dev."}) {
      require_paths(experiment_, keys);
    }
    std::string where = options_.config;
    for (const std::string& set : options_.overrides) {
      if (set.starts_with("model.")) where += " with --set " + excerpt(set);
    }
    check_shape(experiment_.model, where);
    resolve(experiment_.decode, 0, options_.config);  // refuses what is out of range there
  }

  /// Whether CONFIG is what the run itself wrote: unless --set changes it, it stays as it is, with
  /// what somebody may have added.
  bool has_own_config() const {
    std::error_code ignored;
    return fs::equivalent(options_.config, options_.out + "/config.json", ignored);
  }

  /// What a resumed run writes must not be what it learns from.
  void check_files() const {
    FileGuard guard;
    const DataConfig& data = experiment_.data;
    for (const auto& [key, path] : {std::pair{"data.train.source", &data.train.source},
                                    {"data.train.target", &data.train.target},
                                    {"data.dev.source", &data.dev.source},
                                    {"data.dev.target", &data.dev.target}}) {
      guard.read(key, *path);
    }
    guard.read_all("--from", options_.from);
    guard.read_all("tokenizer.model", experiment_.tokenizer.model);
    if (!has_own_config()) guard.read("CONFIG", options_.config);
    for (const char* name : {"config.json", "train.jsonl", "probe.jsonl", "curve.svg", "lock"}) {
      guard.write("--out", options_.out + "/" + name);
    }
    for (const char* folder : {"model", "tokenizer", "checkpoints"}) {
      std::error_code error;
      for (fs::directory_iterator entry(options_.out + "/" + folder, error), end;
           !error && entry != end; entry.increment(error)) {
        guard.write("--out", entry->path().string());
      }
    }
  }

  std::size_t most_tokens() const {
    const TrainConfig& c = experiment_.train;
    auto most = to_size(experiment_.model.pair_positions());
    if (c.max_length > 0) most = std::min(most, c.max_length);
    return to_size(std::min(most, c.batch_tokens));
  }

  /// By what the config says; the text will say more exactly.
  void check_memory() const {
    ModelConfig model = experiment_.model;
    if (!experiment_.tokenizer.model.empty()) {
      fit_to_tokenizer(model, Tokenizer(experiment_.tokenizer.model), options_.config);
    } else if (model.vocab_size == 0) {
      model.vocab_size = model.decoder_vocab_size = tokenizer_pieces(experiment_.tokenizer) + 1;
    }
    require_memory_for(model, expected_batch(experiment_.train));
  }

  void require_memory_for(const ModelConfig& model, const BatchShape& largest) const {
    require_training_memory(training_memory(model, experiment_.train, largest), largest,
                            options_.config);
  }

  /// DIR/config.json, made before DIR is: a path in it may be no text.
  std::string config_as_used() const try {
    return experiment_.document.dump(2) + "\n";
  } catch (const Json::exception&) {
    throw InputError(
        "{}: a path in it is not valid UTF-8, and DIR/config.json could not hold it; rename the "
        "folder",
        options_.config);
  }

  /// The directory of the tokenizer's files: the config's own, or DIR/tokenizer, trained once.
  std::string prepare_tokenizer(RunListener& listener) const {
    if (!experiment_.tokenizer.model.empty()) return experiment_.tokenizer.model;
    std::string directory = options_.out + "/tokenizer";
    std::error_code ignored;
    // It was renamed there when it was complete; without a checkpoint it may be another config's.
    if (directory_->has_checkpoint()) {
      if (directory_exists(directory)) return directory;
      throw InputError(
          "cannot resume {}: it has no tokenizer of its own, so it began with another's; give the "
          "same --from or tokenizer.model again",
          printable(options_.out));
    }
    fs::remove_all(directory, ignored);
    const int wanted = tokenizer_pieces(experiment_.tokenizer);
    listener.say(fmt::format("training a {} tokenizer of at most {} pieces",
                             experiment_.tokenizer.type, wanted));
    NewDirectory writing(directory);
    const TrainedTokenizer made = train_tokenizer_for(experiment_, writing.writing());
    writing.commit();
    const int fewest = std::min(made.source_pieces, made.target_pieces);
    if (fewest < wanted) {
      listener.say(
          fmt::format("the text gives {} pieces, fewer than the {} asked for", fewest, wanted));
    }
    return directory;
  }

  void report_corpus(const Corpus& corpus, const ParallelText& text, RunListener& listener) const {
    if (text.controls > 0) {
      listener.say(fmt::format("note: {} control characters in the training text were replaced",
                               text.controls));
    }
    if (corpus.empty > 0 || corpus.too_long > 0) {
      listener.say(fmt::format(
          "note: {} of {} pairs were skipped: {} with an empty side, {} longer than {} tokens",
          corpus.empty + corpus.too_long, text.source.size(), corpus.empty, corpus.too_long,
          most_tokens()));
    }
    if (corpus.size() == 0) {
      throw InputError(
          "{} and {}: no pair is left to train on ({} with an empty side, {} longer than {} "
          "tokens); raise train.max_length, train.batch_tokens or model.max_position_embeddings",
          experiment_.data.train.source, experiment_.data.train.target, corpus.empty,
          corpus.too_long, most_tokens());
    }
    listener.say(fmt::format("{} sentence pairs to train on", corpus.size()));
  }

  TrainingEnd train(Trainer& trainer, RunListener& listener) const {
    const std::atomic<int>& stop = owner_.stop();
    if (const double smoothing = experiment_.train.label_smoothing; smoothing > 0) {
      listener.say(fmt::format(
          "smoothed loss: with label smoothing {}; plain ppl: perplexity without it", smoothing));
    }
    if (trainer.run(stop) == TrainingEnd::stopped) {
      listener.say("stopped after a checkpoint; --resume goes on");
      return TrainingEnd::stopped;
    }
    tell_results(listener);
    return TrainingEnd::finished;
  }

  /// What lies in the directory now, and what one does with it.
  void tell_results(RunListener& listener) const {
    std::string out = options_.out;
    while (out.size() > 1 && out.back() == '/') out.pop_back();
    std::string files;
    for (const char* name : {"train.jsonl", "curve.svg", "probe.jsonl", "config.json"}) {
      if (file_exists(out + "/" + name)) files += std::string(", ") + name;
    }
    for (const char* name : {"tokenizer", "checkpoints"}) {
      if (directory_exists(out + "/" + name)) files += std::string(", ") + name;
    }
    const std::optional<std::uint64_t> kept = listener.kept_update();
    const char* why = experiment_.data.dev.source.empty() ? "" : ", the best on dev";
    listener.say(fmt::format("done: wrote {}/model{}{}", out,
                             kept ? fmt::format(" (of update {}{})", *kept, why) : "", files));
    const std::string& probe = experiment_.data.probe;
    listener.say(fmt::format("next: attn-demo translate --model {}/model{}", out,
                             probe.empty() ? "" : fmt::format(" \"{}\"", probe)));
    if (file_exists(out + "/probe.jsonl")) {
      listener.say(
          fmt::format("film: attn-demo page {}/probe.jsonl --html {}/film.html", out, out));
    }
  }

  TrainOptions options_;
  RunOwner& owner_;
  ExperimentConfig experiment_;
  std::unique_ptr<RunDirectory> directory_;
};

}  // namespace

std::string RunListener::record_line(const AttentionRecord& record) {
  std::string line = to_json_line(record);
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

void RunListener::curve_changed(const TrainingCurve& curve) {
  write_file(directory_ + "/curve.svg", training_curve_svg(curve));
  kept_update_ = curve.best_update;
}

ProgressFigures progress_figures(const UpdateFigures& f) {
  ProgressFigures figures;
  figures.epoch = f.epoch;
  figures.update = f.update;
  if (f.updates > 0) figures.updates = f.updates;
  figures.loss = f.loss;
  figures.tokens_per_second = f.tokens_per_second;
  figures.learning_rate = f.learning_rate;
  figures.seconds_left = f.seconds_left;
  figures.log = f.log;
  return figures;
}

TrainingEnd run_training(const TrainOptions& options, RunOwner& owner) {
  return TrainingRun(options, owner).run();
}

}  // namespace attn
