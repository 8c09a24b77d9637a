#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/at.h"
#include "base/error.h"
#include "model/directory/save_model.h"
#include "model/training/training_pass.h"
#include "train/adam.h"
#include "train/batches.h"
#include "train/run/checkpoint.h"
#include "train/run/journal.h"
#include "train/run/run_identity.h"
#include "train/stopwatch.h"
#include "train/weight_average.h"
#include "translate/alternatives.h"
#include "translate/translator.h"

namespace attn {
namespace {

AdamConfig adam_config(const TrainConfig& c) {
  return {static_cast<float>(c.adam_beta1), static_cast<float>(c.adam_beta2),
          static_cast<float>(c.adam_epsilon), static_cast<float>(c.clip_norm)};
}

Backend products_of(const TrainConfig& c) {
  return c.precision == Precision::bfloat16 ? Backend::bfloat16 : default_backend();
}

/// The weights of the model that the run begins with, or random ones.
TrainableModel first_weights(TrainerSetup& setup) {
  if (setup.start == nullptr) return {setup.model, setup.train.seed};
  TrainableModel model(setup.model, *setup.start);
  setup.start.reset();
  return model;
}

}  // namespace

class Trainer::Run {
 public:
  Run(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener)
      : setup_(std::move(setup)),
        tokenizer_(tokenizer),
        listener_(listener),
        model_(first_weights(setup_)),
        pass_(model_, products_of(setup_.train)),
        adam_(model_.weights().size(), adam_config(setup_.train)),
        average_(setup_.train, model_.weights()),
        journal_(setup_.directory, setup_.title, listener) {
    if (setup_.dev) {
      DecodeConfig search = setup_.decode;
      search.num_beams = to_int(setup_.train.validate_beams);
      search.num_return_sequences = 1;
      validator_.emplace(std::move(*setup_.dev), tokenizer_, search,
                         to_size(setup_.model.pair_positions()),
                         static_cast<float>(setup_.train.label_smoothing));
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
        first_difference(with_later_keys(checkpoint->state["identity"]), setup_.identity);
    if (!difference.empty()) {
      throw InputError(
          "cannot resume {}: {}; give the config and data that the run began with, or another "
          "directory",
          setup_.directory, difference);
    }
    state_ = RunState::from_json(checkpoint->state["run"], path);
    read_arrays(*checkpoint, arrays());
    adam_.set_step(state_.update);
    average_.set_snapshots(state_.snapshots);
    checkpointed_ = state_.update;
    pass_.prepare();
    return true;
  }

  TrainingEnd run(const std::atomic<int>& stop) {
    journal_.open(state_);
    begin_epoch();
    // A look that is due before any update: of a new run, or of one that was stopped while it
    // looked.
    if (!take(look_due(), stop)) return stopped();
    watch_.start();
    while (!finished()) {
      update();
      if (state_.next_batch >= plan_.size()) finish_epoch();
      if (!after_update(stop)) return TrainingEnd::stopped;
    }
    watch_.stop();
    if (state_.validated_update != state_.update && !take(Look::whole, stop)) return stopped();
    if (checkpointed_ != state_.update) checkpoint();
    return TrainingEnd::finished;
  }

 private:
  /// The epoch's cuts and batches: they depend on nothing but the setup and the epoch's number.
  void begin_epoch() {
    if (setup_.sampled) {
      sampled_corpus_ = {};  // the last epoch's need not be there beside it
      sampled_corpus_ = setup_.sampled->cut(setup_.corpus, state_.epoch);
    }
    plan_ = plan_epoch(corpus(), setup_.train.batch_tokens, setup_.train.seed, state_.epoch);
  }

  /// The corpus as the current epoch has cut it.
  const Corpus& corpus() const { return setup_.sampled ? sampled_corpus_ : setup_.corpus; }

  // --- one update ------------------------------------------------------------------------------

  void update() {
    const std::size_t first = to_size(state_.next_batch);
    const std::size_t last = std::min(first + setup_.train.accumulate, plan_.size());
    Index tokens = 0;
    for (std::size_t b = first; b < last; ++b) {
      for (const std::uint32_t i : plan_[b]) {
        tokens += to_index(corpus().target.length(i));
      }
    }
    LossSum sum;
    for (std::size_t b = first; b < last; ++b) {
      batch_.clear();
      for (const std::uint32_t i : plan_[b]) {
        batch_.add(corpus().source[i], corpus().target[i], setup_.model.decoder_start_token_id);
      }
      PassOptions options;
      options.label_smoothing = static_cast<float>(setup_.train.label_smoothing);
      options.gradient_scale = 1.0F / static_cast<float>(tokens);
      options.r_drop = static_cast<float>(setup_.train.r_drop);
      options.seed = setup_.train.seed;
      options.batch = state_.batches++;
      sum += pass_.run(batch_, options);
    }
    norm_ = Adam::norm(model_.gradients());
    if (!std::isfinite(sum.loss) || !std::isfinite(norm_)) refuse_update(sum);
    rate_ = setup_.train.learning_rate_at(state_.update + 1);
    if (!adam_.update(model_.weights(), model_.gradients(), norm_, rate_)) {
      throw InputError(
          "update {}: weights are no longer finite; training stops, and {}; lower "
          "train.learning_rate or raise train.adam_epsilon",
          state_.update + 1, what_is_kept());
    }
    pass_.prepare();
    ++state_.update;
    state_.next_batch = last;
    average_.after_update(model_.weights(), state_.update);
    state_.since_log += sum;
    state_.in_epoch += sum;
    timed_tokens_ += sum.tokens;
  }

  std::string what_is_kept() const {
    return checkpointed_ > 0 ? fmt::format("the checkpoint of update {} is kept", checkpointed_)
                             : std::string("there is no checkpoint yet");
  }

  [[noreturn]] void refuse_update(const LossSum& sum) const {
    throw InputError(
        "update {}: the loss is {} and the gradient's norm {}, no longer finite; training stops, "
        "and {}; lower train.learning_rate, raise train.warmup_updates or set train.clip_norm",
        state_.update + 1, mean_of(sum.loss, sum.tokens), norm_, what_is_kept());
  }

  void finish_epoch() {
    journal_.epoch(state_);
    state_.in_epoch = {};
    ++state_.epoch;
    state_.next_batch = 0;
    begin_epoch();
  }

  // --- what follows an update ------------------------------------------------------------------

  /// Logs, validates and saves where it is time; false where the run was stopped.
  bool after_update(const std::atomic<int>& stop) {
    show_progress();
    const bool save = state_.update % setup_.train.checkpoint_every == 0;
    if (save) average_.after_checkpoint(model_.weights());  // also where a signal came
    if (stop != 0) {
      stopped();
      return false;
    }
    const Look look = look_due();
    if (look == Look::none && !save) return true;
    watch_.stop();
    if (!take(look, stop)) {
      stopped();
      return false;
    }
    if (save) checkpoint();
    watch_.start();
    return true;
  }

  TrainingEnd stopped() {
    checkpoint();
    return TrainingEnd::stopped;
  }

  void show_progress() {
    ++timed_updates_;
    UpdateFigures figures;
    figures.epoch = epoch_of(state_);
    figures.update = state_.update;
    figures.updates = updates_in_all();
    figures.loss = mean_of(state_.since_log.loss, state_.since_log.tokens);
    figures.learning_rate = rate_;
    figures.tokens_per_second =
        static_cast<double>(timed_tokens_) / std::max(1e-9, watch_.seconds());
    if (figures.updates >= state_.update) {
      figures.seconds_left = watch_.seconds() / static_cast<double>(timed_updates_) *
                             static_cast<double>(figures.updates - state_.update);
    }
    figures.log = state_.update % setup_.train.log_every == 0;
    if (figures.log) journal_.train(state_, figures, norm_);
    listener_.updated(figures);
    if (!figures.log) return;
    state_.since_log = {};
    timed_tokens_ = 0;
    timed_updates_ = 0;
    watch_.reset();
  }

  /// By updates, or as many as the epochs will have if all have as many batches as this one.
  std::uint64_t updates_in_all() const {
    const TrainConfig& c = setup_.train;
    const std::uint64_t an_epoch = (plan_.size() + c.accumulate - 1) / c.accumulate;
    const std::uint64_t by_epochs = c.epochs * an_epoch;
    if (c.updates == 0) return by_epochs;
    return by_epochs == 0 ? c.updates : std::min(c.updates, by_epochs);
  }

  bool finished() const {
    const TrainConfig& c = setup_.train;
    if (setup_.corpus.size() == 0) return true;
    if (c.updates > 0 && state_.update >= c.updates) return true;
    if (c.epochs > 0 && state_.epoch > c.epochs) return true;
    return c.patience > 0 && state_.without_improvement >= c.patience;
  }

  // --- validation ------------------------------------------------------------------------------

  enum class Look {
    none,
    early,  ///< before the first validation: measured and recorded, nothing else
    whole,  ///< a validation: decides which model is kept, and when to stop
  };

  Look look_due() const {
    const std::uint64_t update = state_.update, every = setup_.train.validate_every;
    if (update > 0) {
      if (state_.validated_update == update) return Look::none;
      if (every == 0 ? state_.next_batch == 0 : update % every == 0) return Look::whole;
    }
    const bool before_first = every == 0 ? state_.epoch == 1 : update < every;
    const bool seen = validator_ || !setup_.probe.empty();
    const bool due = before_first && seen && !finished() && setup_.train.early_look_at(update);
    return due ? Look::early : Look::none;
  }

  /// False where it was stopped before its end: nothing has changed then.
  bool take(Look look, const std::atomic<int>& stop) {
    if (look == Look::none) return true;
    Stopwatch watch;
    watch.start();
    Transformer candidate =
        model_.transformer(average_.best(model_.shared_weights()), default_backend());
    candidate.set_name(fmt::format("the model after update {}", state_.update));
    const bool early = look == Look::early;
    bool best = !early;  // without a dev part the newest is
    if (validator_) {
      const bool scores = !early || setup_.train.early_scores;
      const std::optional<ValidationResult> result =
          scores ? validator_->run(candidate, stop) : validator_->loss_of(candidate);
      if (!result) return false;
      if (early) {
        journal_.early_look(state_, *result, watch.seconds());
      } else {
        best = judge(*result);
        journal_.validation(state_, *result, best, watch.seconds());
      }
    }
    state_.validated_update = state_.update;
    if (best) {
      state_.best_update = state_.update;
      save_best(candidate);
    }
    record_probe(candidate);
    journal_.show_curve(state_.best_update);
    return true;
  }

  bool judge(const ValidationResult& result) {
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
    copy_tokenizer(setup_.tokenizer_directory, directory);
    save_model(candidate, setup_.decode, directory, DType::f32);
  }

  void record_probe(const Transformer& candidate) {
    if (setup_.probe.empty()) return;
    DecodeConfig search = setup_.decode;
    // A model that has learned nothing does not end, and its maps would fill the disk.
    const std::size_t length = tokenizer_.encode_source(setup_.probe).ids.size();
    if (to_size(search.max_new_tokens) > 2 * length + 10) search.max_new_tokens = 0;
    Translator translator(candidate, tokenizer_, search);
    ModelSummary summary = summarise(setup_.model);
    summary.name = setup_.title;
    summary.update = state_.update;
    translator.describe(std::move(summary));
    const RecordDetail detail{false, false, recorded_alternatives};
    const PreparedSentence sentence = translator.prepare(setup_.probe);
    journal_.probe(setup_.probe_target.empty()
                       ? translator.record({sentence}, detail).front()
                       : translator.record_target(sentence, setup_.probe_target, detail));
  }

  // --- checkpoints -----------------------------------------------------------------------------

  void checkpoint() {
    journal_.sync(state_);
    state_.snapshots = average_.snapshots();
    Json state = Json::object();
    state["run"] = state_.to_json();
    state["identity"] = setup_.identity;
    write_checkpoint(in_directory("checkpoints"), state_.update, state, arrays());
    checkpointed_ = state_.update;
  }

  std::vector<CheckpointArray> arrays() {
    std::vector<CheckpointArray> arrays{{"weights", model_.weights()},
                                        {"first_moments", adam_.first_moments()},
                                        {"second_moments", adam_.second_moments()}};
    for (CheckpointArray& array : average_.arrays()) arrays.push_back(std::move(array));
    return arrays;
  }

  std::string in_directory(const char* name) const { return setup_.directory + "/" + name; }

  TrainerSetup setup_;
  const Tokenizer& tokenizer_;
  TrainingListener& listener_;
  TrainableModel model_;
  TrainingPass pass_;
  Adam adam_;
  WeightAverage average_;
  std::optional<Validator> validator_;
  Journal journal_;
  RunState state_;
  Corpus sampled_corpus_;        ///< only where the setup samples
  std::vector<BatchPlan> plan_;  ///< of the epoch that is going on
  TrainingBatch batch_;
  double norm_ = 0;
  double rate_ = 0;
  std::uint64_t checkpointed_ = 0;
  Stopwatch watch_;  ///< of updates alone: validations and checkpoints stop it
  Index timed_tokens_ = 0;
  std::uint64_t timed_updates_ = 0;
};

Trainer::Trainer(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener)
    : run_(std::make_unique<Run>(std::move(setup), tokenizer, listener)) {}
Trainer::~Trainer() = default;

bool Trainer::resume() {
  return run_->resume();
}

TrainingEnd Trainer::run(const std::atomic<int>& stop) {
  return run_->run(stop);
}

}  // namespace attn
