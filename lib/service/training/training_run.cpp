#include "service/training/training_run.h"

#include <array>
#include <filesystem>
#include <memory>

#include "analysis/pharaoh.h"
#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "config/custom_architecture.h"
#include "model/directory/model_directory.h"
#include "record/json/record_json.h"
#include "service/model/hub_cache.h"
#include "service/model/model_and_tokenizer.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/progress.h"
#include "service/search_settings.h"
#include "service/training/experiment_setup.h"
#include "train/run/run_ownership.h"
#include "train/trainer.h"
#include "view/svg/training_curve_svg.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

/// The files that a run leaves in its directory, besides its lock.
constexpr std::array kFiles{"train.jsonl", "curve.svg", "probe.jsonl", "config.json"};
constexpr const char* kModel = "model";
constexpr std::array kFolders{kModel, "tokenizer", "checkpoints"};

class TrainingRun {
 public:
  TrainingRun(const TrainingRequest& request, TrainingFrontEnd& owner)
      : request_(request), owner_(owner) {
    if (!request_.from.empty()) request_.from = model_directory(request_.from);
    request_.out = normalize_output_path(request_.out);
    use_threads(request_.threads.value_or(available_cores()));
  }

  TrainingOutcome run() {
    experiment_ = read_with_overrides(request_.config, request_.overrides);
    std::string note;
    if (!request_.from.empty()) note = start_from_model(experiment_, request_.from);
    check_experiment();
    record_languages();
    ParallelText text = read_parallel(experiment_.data.train);
    std::optional<ParallelText> dev;
    if (!experiment_.data.dev.source.empty()) dev = read_parallel(experiment_.data.dev);
    check_tokenizer();
    check_files();
    const std::string config = config_as_used();
    const bool smoothed = experiment_.train.label_smoothing > 0;
    const std::unique_ptr<RunListener> listens =
        owner_.on_start(request_.out, smoothed ? LossNames::smoothed : LossNames::plain);
    RunListener& listener = *listens;
    directory_ = std::make_unique<RunDirectory>(request_.out, request_.resume);
    if (!note.empty()) listener.say(note);
    const std::string tokenizer_directory = prepare_tokenizer(listener);
    if (!tokenizer_) tokenizer_.emplace(tokenizer_directory);
    const Tokenizer& tokenizer = *tokenizer_;
    TrainerSetup setup = set_up(tokenizer);
    setup.tokenizer_directory = tokenizer_directory;
    tokenize_text(setup, text, listener);
    if (!experiment_.train.guided_alignment.empty()) align_text(setup, text, listener);
    text = {};
    require_memory_for(setup.model, setup.sampled ? largest_batch(*setup.sampled, experiment_.train)
                                                  : largest_batch(setup.corpus, experiment_.train));
    setup.dev = std::move(dev);
    setup.identity = run_identity(experiment_, setup.model, tokenizer_directory, request_.from);
    add_languages(setup.identity, tokenizer.languages(), setup.languages);
    if (!request_.from.empty()) {
      // A checkpoint replaces these weights; without one, training begins with them.
      setup.initial_model =
          std::make_shared<Transformer>(load_model(request_.from, default_backend()).transformer);
    }
    Trainer trainer(std::move(setup), tokenizer, listener);
    if (request_.resume && !trainer.resume()) {
      listener.say("note: no checkpoint yet in " + request_.out + "; training begins anew");
    }
    const bool stays = has_own_config() && request_.overrides.empty() && !asks_languages();
    directory_->begin(stays ? std::nullopt : std::optional(config));
    return train(trainer, listener);
  }

 private:
  void check_experiment() const {
    const auto need = [&](const std::string& path, const char* key) {
      if (path.empty()) throw InputError("{}: {} is missing; name a file", request_.config, key);
    };
    need(experiment_.data.train.source, "data.train.source");
    need(experiment_.data.train.target, "data.train.target");
    if (!experiment_.data.dev.source.empty() || !experiment_.data.dev.target.empty()) {
      need(experiment_.data.dev.source, "data.dev.source");
      need(experiment_.data.dev.target, "data.dev.target");
    }
    const TrainConfig& c = experiment_.train;
    const bool by_patience = c.patience > 0 && !experiment_.data.dev.source.empty();
    if (c.updates == 0 && c.epochs == 0 && c.minutes == 0 && !by_patience) {
      throw InputError(
          "{}: nothing would end the training; set train.updates, train.epochs, train.minutes, or "
          "train.patience with data.dev",
          request_.config);
    }
    if (experiment_.tokenizer.model.empty() && experiment_.tokenizer.type.empty()) {
      throw InputError(
          "{}: section tokenizer names neither a type nor a model; add \"tokenizer\": {{\"type\": "
          "\"unigram\", \"vocab_size\": 8000}}",
          request_.config);
    }
    for (const char* keys : {"tokenizer.", "data.train.", "data.dev.", "train."}) {
      check_paths_exist(experiment_, keys);
    }
    ModelChoice asked;
    asked.overrides = request_.overrides;
    check_shape(experiment_.model, request_.config, asked.asked_changes(true));
    resolve_decode_options(experiment_.decode, 0,
                           request_.config);  // refuses values out of range
  }

  /// True if CONFIG is the file that the run itself wrote. If its settings are unchanged, the file
  /// is kept, including any additions made by hand.
  bool has_own_config() const {
    std::error_code ignored;
    return fs::equivalent(request_.config, request_.out + "/config.json", ignored);
  }

  bool asks_languages() const {
    return !request_.languages.source.empty() || !request_.languages.target.empty();
  }

  /// Records the requested languages in DIR/config.json.
  void record_languages() {
    for (const auto& [key, language] : {std::pair{"source_lang", &request_.languages.source},
                                        {"target_lang", &request_.languages.target}}) {
      if (!language->empty()) experiment_.document["data"][key] = *language;
    }
  }

  /// Checks that a resumed run does not write to the files that it learns from.
  void check_files() const {
    FileGuard guard;
    const DataConfig& data = experiment_.data;
    for (const auto& [key, path] : {std::pair{"data.train.source", &data.train.source},
                                    {"data.train.target", &data.train.target},
                                    {"data.dev.source", &data.dev.source},
                                    {"data.dev.target", &data.dev.target}}) {
      guard.read(key, *path);
    }
    guard.read("train.guided_alignment", experiment_.train.guided_alignment);
    guard.read_all(Field{"from"}, request_.from);
    guard.read_all("tokenizer.model", experiment_.tokenizer.model);
    if (!has_own_config()) guard.read("CONFIG", request_.config);
    guard.write(Field{"out"}, request_.out + "/lock");
    for (const char* name : kFiles) guard.write(Field{"out"}, request_.out + "/" + name);
    for (const char* folder : kFolders) {
      std::error_code error;
      for (fs::directory_iterator entry(request_.out + "/" + folder, error), end;
           !error && entry != end; entry.increment(error)) {
        guard.write(Field{"out"}, entry->path().string());
      }
    }
  }

  std::size_t max_side_tokens() const {
    return attn::max_side_tokens(experiment_.model, experiment_.train);
  }

  /// Checks that the request fits the tokenizer, and that the memory suffices for the config. A
  /// more exact check follows once the text is known.
  void check_tokenizer() {
    if (!experiment_.tokenizer.model.empty()) {
      tokenizer_.emplace(experiment_.tokenizer.model);
      require_memory_for(set_up(*tokenizer_).model, expected_batch(experiment_.train));
      return;
    }
    TrainerSetup blank;
    choose_training_languages(blank, {}, experiment_, request_.languages,
                              "the tokenizer of " + printable(request_.config));
    ModelConfig model = experiment_.model;
    if (model.vocab_size == 0) {
      model.vocab_size = model.decoder_vocab_size = tokenizer_vocab_size(experiment_.tokenizer) + 1;
    }
    require_memory_for(model, expected_batch(experiment_.train));
  }

  /// Makes the setup as far as it follows from the experiment and the tokenizer alone.
  TrainerSetup set_up(const Tokenizer& tokenizer) const {
    TrainerSetup setup;
    setup.directory = request_.out;
    setup.train = experiment_.train;
    setup.model = experiment_.model;
    const bool loaded = !request_.from.empty();
    (loaded ? check_tokenizer_fits : fit_to_tokenizer)(setup.model, tokenizer,
                                                       loaded ? request_.from : request_.config);
    setup.decode = resolve_decode_options(decode_defaults_for(experiment_.decode, setup.model),
                                          setup.model.eos_token_id, request_.config);
    choose_training_languages(setup, tokenizer.languages(), experiment_, request_.languages,
                              printable(loaded ? request_.from : experiment_.tokenizer.model));
    if (const double sampling = experiment_.tokenizer.sampling; sampling > 0) {
      tokenizer.require_sampling(sampling, request_.config);
    }
    setup.probe = experiment_.data.probe;
    setup.probe_target = experiment_.data.probe_target;
    setup.title = fs::path(request_.config).stem().string();
    return setup;
  }

  void tokenize_text(TrainerSetup& setup, const ParallelText& text, RunListener& listener) {
    const Tokenizer& tokenizer = *tokenizer_;
    const Languages& languages = tokenizer.languages();
    const std::string told = describe_languages(setup, languages);
    if (!told.empty()) listener.say("languages: " + told);
    if (!languages.uses_language_tokens())
      language_code_ = languages.code_of(setup.languages.source);
    {
      const Progress progress(fmt::format("splitting {} pairs into tokens", text.source.size()));
      setup.corpus = make_corpus(text, tokenizer, max_side_tokens(), setup.languages);
    }
    report_corpus(setup.corpus, text, listener);
    if (const double sampling = experiment_.tokenizer.sampling; sampling > 0) {
      const SubwordSamplingSettings settings{sampling, experiment_.train.seed, max_side_tokens(),
                                             setup.languages.source};
      setup.sampled.emplace(text, setup.corpus, tokenizer, settings);
    }
  }

  /// Reads the alignments that guide the training.
  void align_text(TrainerSetup& setup, const ParallelText& text, RunListener& listener) const {
    const std::string& path = experiment_.train.guided_alignment;
    const GuidedHeads guided = guided_heads(experiment_.train, setup.model, request_.config);
    constexpr std::size_t kMost = std::size_t{1} << 34;
    std::vector<WordLinks> links;
    for (const GoldAlignment& line : parse_pharaoh(read_text_file(path, kMost), printable(path))) {
      WordLinks& words = links.emplace_back();
      for (const GoldLink& link : line) words.push_back({link.source, link.target, link.weight});
    }
    setup.aligned.emplace(text, std::move(links), *tokenizer_, path);
    std::size_t aligned = 0;
    for (const auto& pair : setup.aligned->token_links(setup.corpus))
      aligned += pair.empty() ? 0U : 1U;
    if (aligned == 0) {
      throw InputError("{}: no pair has a link that fits its tokens; expected links as in 0-0 1-2",
                       printable(path));
    }
    listener.say(fmt::format("alignments guide cross:{}:{}: {} of {} pairs have links",
                             guided.layer, fmt::join(guided.heads, ","), aligned,
                             setup.corpus.size()));
  }

  void require_memory_for(const ModelConfig& model, const BatchShape& largest) const {
    require_training_memory(training_memory(model, experiment_.train, largest), largest,
                            request_.config);
  }

  /// Returns DIR/config.json. It is made before DIR is, because a path in it may not be valid
  /// text.
  std::string config_as_used() const try {
    return experiment_.document.dump(2) + "\n";
  } catch (const Json::exception&) {
    throw InputError(
        "{}: a path in it is not valid UTF-8, and DIR/config.json could not hold it; rename the "
        "folder",
        request_.config);
  }

  /// Returns the directory of the tokenizer's files: that in the config, or DIR/tokenizer, trained
  /// once.
  std::string prepare_tokenizer(RunListener& listener) const {
    if (!experiment_.tokenizer.model.empty()) return experiment_.tokenizer.model;
    std::string directory = request_.out + "/tokenizer";
    std::error_code ignored;
    // A tokenizer is renamed to this path only when complete. If there is no checkpoint, it may
    // belong to another config.
    if (directory_->has_checkpoint()) {
      if (directory_exists(directory)) return directory;
      throw FieldError<InputError>(FieldText(
          "cannot resume " + printable(request_.out),
          ": it has no tokenizer of its own, so the run began with another model's; give the same ",
          Field{"from"}, " or tokenizer.model again"));
    }
    fs::remove_all(directory, ignored);
    const int wanted = tokenizer_vocab_size(experiment_.tokenizer);
    listener.say(fmt::format("training a {} tokenizer of at most {} pieces",
                             experiment_.tokenizer.type, wanted));
    NewDirectory writing(directory);
    const TrainedTokenizer made = train_tokenizer_for(experiment_, writing.temporary_path());
    writing.commit();
    const int fewest = std::min(made.source_pieces, made.target_pieces);
    if (fewest < wanted) {
      listener.say(
          fmt::format("the text gives {} pieces, fewer than the requested {}", fewest, wanted));
    }
    return directory;
  }

  void report_corpus(const Corpus& corpus, const ParallelText& text, RunListener& listener) const {
    for (const std::string& note : text.notes) listener.say("note: " + note);
    if (text.controls > 0) {
      listener.say(fmt::format("note: {} control characters in the training text were replaced",
                               text.controls));
    }
    if (corpus.empty > 0 || corpus.too_long > 0) {
      listener.say(
          fmt::format("note: {} of {} {} skipped: {} with an empty side, {} longer than {} tokens",
                      corpus.empty + corpus.too_long, counted(text.source.size(), "pair"),
                      corpus.empty + corpus.too_long == 1 ? "was" : "were", corpus.empty,
                      corpus.too_long, max_side_tokens()));
    }
    if (corpus.size() == 0) {
      throw InputError(
          "{} and {}: no pair is left to train on ({} with an empty side, {} longer than {} "
          "tokens); raise train.max_length, train.batch_tokens or model.max_position_embeddings",
          experiment_.data.train.source, experiment_.data.train.target, corpus.empty,
          corpus.too_long, max_side_tokens());
    }
    listener.say(fmt::format("{} sentence pairs to train on", corpus.size()));
  }

  TrainingOutcome train(Trainer& trainer, RunListener& listener) const {
    const std::atomic<int>& stop = owner_.stop();
    if (const double smoothing = experiment_.train.label_smoothing; smoothing > 0) {
      listener.say(fmt::format(
          "smoothed loss: with label smoothing {}; plain ppl: perplexity without it", smoothing));
    }
    const TrainingOutcome outcome = trainer.run(stop);
    listener.say(end_line(outcome, experiment_.train, stop));
    if (outcome.stopped()) {
      say(listener, {"stopped after a checkpoint; ", Field{"resume"}, " goes on"});
    } else {
      report_results(listener);
    }
    return outcome;
  }

  void say(RunListener& listener, const FieldText& text) const {
    listener.say(text.message_for(owner_.words()));
  }

  /// Reports the files in the directory, and how to use them.
  void report_results(RunListener& listener) const {
    std::string out = request_.out;
    while (out.size() > 1 && out.back() == '/') out.pop_back();
    std::string files;
    for (const char* name : kFiles) {
      if (file_exists(out + "/" + name)) files += std::string(", ") + name;
    }
    for (const char* name : kFolders) {
      if (name != kModel && directory_exists(out + "/" + name)) files += std::string(", ") + name;
    }
    const std::optional<std::uint64_t> kept = listener.kept_update();
    const char* why = experiment_.data.dev.source.empty() ? "" : ", the best on dev";
    listener.say(fmt::format("done: wrote {}/model{}{}", out,
                             kept ? fmt::format(" (of update {}{})", *kept, why) : "", files));
    if (const auto own = custom_architecture_note(experiment_.model)) listener.say("note: " + *own);
    const std::string& probe = experiment_.data.probe;
    FieldText next{"next: ", Command{"translate"}, " ", Field{"model"}, " " + out + "/model"};
    if (!language_code_.empty()) next.add({" ", Field{"target_lang"}, " " + language_code_});
    if (!probe.empty()) next.add(fmt::format(" \"{}\"", probe));
    say(listener, next);
    if (file_exists(out + "/probe.jsonl")) {
      say(listener, {"film: ", Command{"page"}, " " + out + "/probe.jsonl ", Field{"html"},
                     " " + out + "/film.html"});
    }
  }

  TrainingRequest request_;
  TrainingFrontEnd& owner_;
  ExperimentConfig experiment_;
  std::optional<Tokenizer> tokenizer_;
  std::string language_code_;  ///< code of the language that the saved model must be given for each
                               ///< text; or empty
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

TrainingOutcome run_training(const TrainingRequest& request, TrainingFrontEnd& owner) {
  return TrainingRun(request, owner).run();
}

}  // namespace attn
