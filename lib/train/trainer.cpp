#include "train/trainer.h"

#include <algorithm>
#include <filesystem>

#include "base/at.h"
#include "base/error.h"
#include "model/directory/save_model.h"
#include "train/probe.h"
#include "train/run/checkpoint.h"
#include "train/run/journal.h"
#include "train/run/run_identity.h"
#include "train/stopwatch.h"
#include "train/updates.h"

namespace attn {

class Trainer::Run {
 public:
  Run(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener)
      : setup_(std::move(setup)),
        tokenizer_(tokenizer),
        listener_(listener),
        loop_(setup_),
        state_(loop_.state()),
        log_(setup_.directory, setup_.title, listener) {
    if (setup_.dev) {
      validator_.emplace(std::move(*setup_.dev), tokenizer_, validation_settings(setup_));
    }
  }

  bool resume() {
    std::vector<std::string> notes;
    const auto checkpoint = newest_checkpoint(in_directory("checkpoints"), notes);
    for (const std::string& note : notes) listener_.say("note: " + note);
    if (!checkpoint) return false;
    const std::string& path = checkpoint->path;
    if (!checkpoint->state.contains("run") || !checkpoint->state.contains("identity")) {
      throw InputError("{}: holds no state of a run; start anew in another directory", path);
    }
    const std::string difference =
        first_difference(with_newer_keys(checkpoint->state["identity"]), setup_.identity);
    if (!difference.empty()) {
      throw InputError(
          "cannot resume {}: {}; give the config and data that the run began with, or another "
          "directory",
          setup_.directory, difference);
    }
    const RunState state = RunState::from_json(checkpoint->state["run"], path);
    read_arrays(*checkpoint, loop_.arrays());
    loop_.restore(state);
    last_checkpoint_ = state_.update;
    return true;
  }

  TrainingOutcome run(const std::atomic<int>& stop) {
    log_.open(state_);
    loop_.begin_epoch();
    // A look that is due before any update: of a new run, or of one that was stopped while it
    // looked.
    if (!validate(loop_.validation_due(), stop)) return stopped();
    update_timer_.start();
    while (!loop_.finished()) {
      timed_tokens_ += loop_.update(last_checkpoint_).tokens;
      if (loop_.epoch_ends()) {
        log_.epoch(state_);
        loop_.begin_next_epoch();
      }
      if (!after_update(stop)) return TrainingOutcome::stopped;
    }
    update_timer_.stop();
    if (state_.validated_update != state_.update && !validate(ValidationType::full, stop)) return stopped();
    if (last_checkpoint_ != state_.update) checkpoint();
    return TrainingOutcome::finished;
  }

 private:
  // --- what follows an update ------------------------------------------------------------------

  /// Logs, validates and saves where it is time; false where the run was stopped.
  bool after_update(const std::atomic<int>& stop) {
    show_progress();
    const bool save = state_.update % setup_.train.checkpoint_every == 0;
    if (save) loop_.average_checkpoint();  // also where a signal came
    if (stop != 0) {
      stopped();
      return false;
    }
    const ValidationType type = loop_.validation_due();
    if (type == ValidationType::none && !save) return true;
    update_timer_.stop();
    if (!validate(type, stop)) {
      stopped();
      return false;
    }
    if (save) checkpoint();
    update_timer_.start();
    return true;
  }

  TrainingOutcome stopped() {
    checkpoint();
    return TrainingOutcome::stopped;
  }

  void show_progress() {
    ++timed_updates_;
    UpdateMetrics metrics;
    metrics.epoch = epoch_of(state_);
    metrics.update = state_.update;
    metrics.updates = loop_.total_updates();
    metrics.loss = mean_of(state_.since_log.loss, state_.since_log.tokens);
    metrics.learning_rate = loop_.learning_rate();
    metrics.tokens_per_second =
        static_cast<double>(timed_tokens_) / std::max(1e-9, update_timer_.seconds());
    if (metrics.updates >= state_.update) {
      metrics.seconds_left = update_timer_.seconds() / static_cast<double>(timed_updates_) *
                             static_cast<double>(metrics.updates - state_.update);
    }
    metrics.log = state_.update % setup_.train.log_every == 0;
    if (metrics.log) log_.train(state_, metrics, loop_.gradient_norm());
    listener_.updated(metrics);
    if (!metrics.log) return;
    state_.since_log = {};
    timed_tokens_ = 0;
    timed_updates_ = 0;
    update_timer_.reset();
  }

  // --- validation ------------------------------------------------------------------------------

  /// False where it was stopped before its end: nothing has changed then.
  bool validate(ValidationType type, const std::atomic<int>& stop) {
    if (type == ValidationType::none) return true;
    Stopwatch watch;
    watch.start();
    Transformer candidate = loop_.model();
    const bool early = type == ValidationType::early;
    bool best = !early;  // without a dev part the newest is
    if (validator_) {
      const bool scores = !early || setup_.train.early_scores;
      const std::optional<ValidationResult> result =
          scores ? validator_->run(candidate, stop) : validator_->compute_loss(candidate);
      if (!result) return false;
      if (early) {
        log_.early_validation(state_, *result, watch.seconds());
      } else {
        best = record_score(*result);
        log_.validation(state_, *result, best, watch.seconds());
      }
    }
    state_.validated_update = state_.update;
    if (best) {
      state_.best_update = state_.update;
      save_best(candidate);
    }
    if (!setup_.probe.empty()) {
      log_.probe(probe_record(candidate, tokenizer_, setup_, state_.update));
    }
    log_.show_curve(state_.best_update);
    return true;
  }

  bool record_score(const ValidationResult& result) {
    const ValidationMetric metric = setup_.train.metric;
    const double score = metric == ValidationMetric::bleu   ? result.scores->bleu.score
                         : metric == ValidationMetric::chrf ? result.scores->chrf.score
                                                            : -result.loss.loss;
    const bool best = !state_.best_score || score > *state_.best_score;
    if (best) state_.best_score = score;
    state_.without_improvement = best ? 0 : state_.without_improvement + 1;
    return best;
  }

  /// Every file appears whole, the weights last; the others are the same each time.
  void save_best(Transformer& candidate) const {
    const std::string directory = in_directory("model");
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw SystemError("{}: cannot make the directory: {}", directory, error.message());
    copy_tokenizer(setup_.tokenizer_directory, directory, language_codes());
    save_model(candidate, setup_.decode, directory, DType::f32);
  }

  /// What the kept tokenizer says of languages, where they stand around texts.
  LanguageCodes language_codes() const {
    const Languages& known = tokenizer_.languages();
    if (!known.uses_language_tokens()) return {};
    return {known.code_of(setup_.languages.source), known.code_of(setup_.languages.target)};
  }

  // --- checkpoints -----------------------------------------------------------------------------

  void checkpoint() {
    log_.sync(state_);
    loop_.before_checkpoint();
    Json state = Json::object();
    state["run"] = state_.to_json();
    state["identity"] = setup_.identity;
    write_checkpoint(in_directory("checkpoints"), state_.update, state, loop_.arrays());
    last_checkpoint_ = state_.update;
  }

  std::string in_directory(const char* name) const { return setup_.directory + "/" + name; }

  TrainerSetup setup_;
  const Tokenizer& tokenizer_;
  TrainingListener& listener_;
  TrainingLoop loop_;
  RunState& state_;  ///< theirs
  std::optional<Validator> validator_;
  TrainingLog log_;
  std::uint64_t last_checkpoint_ = 0;
  Stopwatch update_timer_;  ///< of updates alone: validations and checkpoints stop it
  Index timed_tokens_ = 0;
  std::uint64_t timed_updates_ = 0;
};

Trainer::Trainer(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener)
    : run_(std::make_unique<Run>(std::move(setup), tokenizer, listener)) {}
Trainer::~Trainer() = default;

bool Trainer::resume() {
  return run_->resume();
}

TrainingOutcome Trainer::run(const std::atomic<int>& stop) {
  return run_->run(stop);
}

}  // namespace attn
