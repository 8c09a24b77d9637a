#include "train/trainer.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/memory.h"
#include "model/directory/model_directory.h"
#include "model/training/trainable_model.h"
#include "train/corpus.h"
#include "train/run/checkpoint.h"
#include "train/run/run_ownership.h"
#include "train/run/training_log.h"
#include "train/training_loop.h"

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
      throw InputError("{}: there is no state of a run here; start again in another directory",
                       path);
    }
    const std::string difference =
        first_difference(with_newer_keys(checkpoint->state["identity"]), setup_.identity);
    if (!difference.empty()) {
      throw InputError(
          "cannot resume {}: {}; use the config and data that the run began with, or another "
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
    run_timer_.start();
    const EndReason reason = train(stop);
    // The line about the end is not part of the last checkpoint, so a resumed run replaces it.
    log_.end(state_, reason);
    return {reason, state_.update, loop_.total_updates()};
  }

 private:
  /// Runs the updates, up to the last checkpoint.
  EndReason train(const std::atomic<int>& stop) {
    // Run a validation that is due before any update: in a new run, or in one stopped during it.
    if (!validate(loop_.validation_due(), stop)) return stopped();
    update_timer_.start();
    std::optional<EndReason> reason;
    while (!(reason = end_reason())) {
      timed_tokens_ += loop_.update(last_checkpoint_).tokens;
      if (loop_.epoch_ends()) {
        log_.epoch(state_);
        loop_.begin_next_epoch();
      }
      if (!after_update(stop)) return EndReason::signal;
    }
    update_timer_.stop();
    if (state_.validated_update != state_.update && !validate(ValidationType::full, stop))
      return stopped();
    if (last_checkpoint_ != state_.update) checkpoint();
    return *reason;
  }

  std::optional<EndReason> end_reason() const {
    if (const auto reason = loop_.end_reason()) return reason;
    const double minutes = setup_.train.minutes;
    if (minutes > 0 && run_timer_.seconds() >= minutes * 60) return EndReason::time;
    return std::nullopt;
  }

  // --- after an update -------------------------------------------------------------------------

  /// Logs, validates and saves when due; returns false if the run was stopped.
  bool after_update(const std::atomic<int>& stop) {
    show_progress();
    const bool save = state_.update % setup_.train.checkpoint_every == 0;
    if (save) loop_.average_checkpoint();  // also after a signal
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

  EndReason stopped() {
    checkpoint();
    return EndReason::signal;
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
    if (setup_.train.minutes > 0) {
      const double left = std::max(0.0, setup_.train.minutes * 60 - run_timer_.seconds());
      metrics.seconds_left = std::min(metrics.seconds_left.value_or(left), left);
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

  /// Returns false if it was stopped before its end, leaving everything unchanged.
  bool validate(ValidationType type, const std::atomic<int>& stop) {
    if (type == ValidationType::none) return true;
    Stopwatch watch;
    watch.start();
    Transformer candidate = loop_.model();
    const bool early = type == ValidationType::early;
    bool best = !early;  // without a dev set, the newest model is kept
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

  /// Writes every file atomically, the weights last; the other files never change.
  void save_best(Transformer& candidate) const {
    const std::string directory = in_directory("model");
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw SystemError("{}: cannot make the directory: {}", directory, error.message());
    copy_tokenizer(setup_.tokenizer_directory, directory, language_codes());
    save_model(candidate, setup_.decode, directory, DType::f32);
  }

  /// Returns the kept tokenizer's languages, if texts have language tokens.
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
  RunState& state_;  ///< state of the loop
  std::optional<Validator> validator_;
  TrainingLog log_;
  std::uint64_t last_checkpoint_ = 0;
  Stopwatch run_timer_;     ///< since the start of this process's part of the run
  Stopwatch update_timer_;  ///< times updates only; paused for validations and checkpoints
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

TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train,
                               const BatchShape& largest) {
  // Weights, gradients, two moments; weights prepared for both passes and for a translating model.
  std::uint64_t copies = 4 + 2 + 1;
  if (train.average == WeightAveraging::exponential) copies += 1;
  if (train.average == WeightAveraging::checkpoints) copies += 1 + train.average_last;
  const std::optional<std::uint64_t> trained = count_parameters(model);
  const std::optional<std::uint64_t> bytes =
      trained ? checked_product({*trained, copies, sizeof(float)}) : std::nullopt;
  BatchShape passed = largest;
  if (train.r_drop > 0) {  // each pair passes through the model twice
    passed.source_tokens *= 2;
    passed.target_tokens *= 2;
    passed.sentences *= 2;
  }
  return {bytes.value_or(~std::uint64_t{0}), activation_bytes(model, passed)};
}

BatchShape expected_batch(const TrainConfig& train) {
  return {train.batch_tokens, train.batch_tokens, 1, 1};
}

BatchShape largest_batch(const Corpus& corpus, const TrainConfig& train) {
  BatchShape largest;
  for (const BatchPlan& plan : plan_by_length(corpus, train.batch_tokens)) {
    BatchShape batch;
    batch.sentences = plan.size();
    for (const std::uint32_t i : plan) {
      batch.source_tokens += corpus.source.length(i);
      batch.target_tokens += corpus.target.length(i);
      batch.longest = std::max<std::uint64_t>(
          batch.longest, std::max(corpus.source.length(i), corpus.target.length(i)));
    }
    largest.source_tokens = std::max(largest.source_tokens, batch.source_tokens);
    largest.target_tokens = std::max(largest.target_tokens, batch.target_tokens);
    largest.longest = std::max(largest.longest, batch.longest);
    largest.sentences = std::max(largest.sentences, batch.sentences);
  }
  return largest;
}

BatchShape largest_batch(const SubwordSampledText& text, const TrainConfig& train) {
  // A sentence has at least two tokens: one word token and </s>.
  return {train.batch_tokens, train.batch_tokens, text.max_side_tokens(), train.batch_tokens / 2};
}

void require_training_memory(const TrainingMemory& memory, const BatchShape& largest,
                             const std::string& where) {
  const std::uint64_t needed =
      checked_add(memory.parameters, memory.activations).value_or(~std::uint64_t{0});
  const std::uint64_t available = available_memory();
  if (needed <= available) return;
  const auto human = [](std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  throw MemoryError(
      "{}: training takes about {} of memory ({} for weights, gradients, moments and buffers, {} "
      "for a batch of {} source and {} target tokens), and {} are available; lower "
      "train.batch_tokens or the model's sizes",
      where, human(needed), human(memory.parameters), human(memory.activations),
      largest.source_tokens, largest.target_tokens, human(available));
}

}  // namespace attn
