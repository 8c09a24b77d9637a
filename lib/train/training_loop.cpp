#include "train/training_loop.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "translate/recorder.h"
#include "translate/translator.h"

namespace attn {

ValidationSettings validation_settings(const TrainerSetup& setup) {
  ValidationSettings settings{setup.decode, setup.languages, to_size(setup.model.max_pair_length()),
                              static_cast<float>(setup.train.label_smoothing)};
  settings.decode.num_beams = to_int(setup.train.validate_beams);
  settings.decode.num_return_sequences = 1;
  return settings;
}

GuidedHeads guided_heads(const TrainConfig& train, const ModelConfig& model,
                         const std::string& where) {
  const auto layers = to_size(model.decoder_layers);
  // In Garg et al., the second-to-last layer aligned best.
  const std::uint64_t layer = train.guided_alignment_layer.value_or(layers > 1 ? layers - 2 : 0);
  if (layer >= layers) {
    throw InputError("{}: train.guided_alignment_layer {}: the decoder has layers 0 to {}", where,
                     layer, layers - 1);
  }
  for (const int head : train.guided_alignment_heads) {
    if (head < to_int(model.decoder_heads)) continue;
    throw InputError("{}: train.guided_alignment_heads {}: a layer has heads 0 to {}", where, head,
                     model.decoder_heads - 1);
  }
  return {to_index(layer), train.guided_alignment_heads,
          static_cast<float>(train.guided_alignment_weight)};
}

namespace {

AdamConfig adam_config(const TrainConfig& c) {
  return {static_cast<float>(c.adam_beta1), static_cast<float>(c.adam_beta2),
          static_cast<float>(c.adam_epsilon), static_cast<float>(c.clip_norm)};
}

Backend matmul_backend(const TrainConfig& c) {
  return c.precision == TrainingPrecision::bfloat16 ? Backend::bfloat16 : default_backend();
}

/// Returns the weights of the initial model, or random ones.
TrainableModel initial_model(TrainerSetup& setup) {
  if (setup.initial_model == nullptr) return {setup.model, setup.train.seed};
  TrainableModel model(setup.model, *setup.initial_model);
  setup.initial_model.reset();
  return model;
}

std::string checkpoint_text(std::uint64_t last_checkpoint) {
  return last_checkpoint > 0 ? fmt::format("the checkpoint of update {} is kept", last_checkpoint)
                             : std::string("there is no checkpoint yet");
}

}  // namespace

TrainingLoop::TrainingLoop(TrainerSetup& setup)
    : setup_(setup),
      has_dev_or_probe_(setup.dev || !setup.probe.empty()),
      model_(initial_model(setup)),
      pass_(model_, matmul_backend(setup.train)),
      adam_(model_.weights().size(), adam_config(setup.train)),
      average_(setup.train, model_.weights()) {
  if (setup.aligned) guided_heads_ = guided_heads(setup.train, setup.model, "train");
}

void TrainingLoop::begin_epoch() {
  if (setup_.sampled) {
    sampled_corpus_ = {};  // free the last epoch's corpus first
    sampled_corpus_ = setup_.sampled->tokenize(setup_.corpus, state_.epoch);
  }
  if (setup_.aligned && (setup_.sampled || links_.empty())) {
    links_ = setup_.aligned->token_links(corpus());
  }
  plan_ = plan_epoch(corpus(), setup_.train.batch_tokens, setup_.train.seed, state_.epoch);
}

LossSum TrainingLoop::update(std::uint64_t last_checkpoint) {
  const std::size_t first = to_size(state_.next_batch);
  const std::size_t last =
      to_size(std::min<std::uint64_t>(first + setup_.train.accumulate, plan_.size()));
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
      if (setup_.aligned) batch_.add_links(links_[i]);
    }
    PassOptions options;
    options.label_smoothing = static_cast<float>(setup_.train.label_smoothing);
    options.gradient_scale = 1.0F / static_cast<float>(tokens);
    options.r_drop = static_cast<float>(setup_.train.r_drop);
    if (setup_.aligned) options.guided = &guided_heads_;
    options.seed = setup_.train.seed;
    options.batch = state_.batches++;
    sum += pass_.run(batch_, options);
  }
  gradient_norm_ = Adam::norm(model_.gradients());
  if (!std::isfinite(sum.loss) || !std::isfinite(gradient_norm_))
    throw_non_finite(sum, last_checkpoint);
  learning_rate_ = setup_.train.learning_rate_at(state_.update + 1);
  if (!adam_.update(model_.weights(), model_.gradients(), gradient_norm_, learning_rate_)) {
    throw InputError(
        "update {}: weights are no longer finite; training stops, and {}; lower "
        "train.learning_rate or raise train.adam_epsilon",
        state_.update + 1, checkpoint_text(last_checkpoint));
  }
  pass_.prepare();
  ++state_.update;
  state_.next_batch = last;
  average_.after_update(model_.weights(), state_.update);
  state_.since_log += sum;
  state_.in_epoch += sum;
  return sum;
}

void TrainingLoop::throw_non_finite(const LossSum& sum, std::uint64_t last_checkpoint) const {
  throw InputError(
      "update {}: the loss is {} and the gradient's norm {}, no longer finite; training stops, "
      "and {}; lower train.learning_rate, raise train.warmup_updates or set train.clip_norm",
      state_.update + 1, mean_of(sum.loss, sum.tokens), gradient_norm_,
      checkpoint_text(last_checkpoint));
}

void TrainingLoop::begin_next_epoch() {
  state_.in_epoch = {};
  ++state_.epoch;
  state_.next_batch = 0;
  begin_epoch();
}

std::optional<EndReason> TrainingLoop::end_reason() const {
  const TrainConfig& c = setup_.train;
  if (c.updates > 0 && state_.update >= c.updates) return EndReason::updates;
  if (c.epochs > 0 && state_.epoch > c.epochs) return EndReason::epochs;
  if (c.patience > 0 && state_.without_improvement >= c.patience) return EndReason::patience;
  // Without text, every epoch is over before it begins.
  if (setup_.corpus.size() == 0) return EndReason::epochs;
  return std::nullopt;
}

std::uint64_t TrainingLoop::total_updates() const {
  const TrainConfig& c = setup_.train;
  const std::uint64_t an_epoch = (plan_.size() + c.accumulate - 1) / c.accumulate;
  const std::uint64_t by_epochs = c.epochs * an_epoch;
  if (c.updates == 0) return by_epochs;
  return by_epochs == 0 ? c.updates : std::min(c.updates, by_epochs);
}

ValidationType TrainingLoop::validation_due() const {
  const std::uint64_t update = state_.update, every = setup_.train.validate_every;
  if (update > 0) {
    if (state_.validated_update == update) return ValidationType::none;
    if (every == 0 ? state_.next_batch == 0 : update % every == 0) return ValidationType::full;
  }
  const bool before_first = every == 0 ? state_.epoch == 1 : update < every;
  const bool due =
      before_first && has_dev_or_probe_ && !finished() && setup_.train.is_early_validation(update);
  return due ? ValidationType::early : ValidationType::none;
}

Transformer TrainingLoop::model() {
  Transformer model =
      model_.transformer(average_.evaluation_weights(model_.shared_weights()), default_backend());
  model.set_name(fmt::format("the model after update {}", state_.update));
  return model;
}

std::vector<CheckpointArray> TrainingLoop::arrays() {
  std::vector<CheckpointArray> arrays{{"weights", model_.weights()},
                                      {"first_moments", adam_.first_moments()},
                                      {"second_moments", adam_.second_moments()}};
  for (CheckpointArray& array : average_.arrays()) arrays.push_back(std::move(array));
  return arrays;
}

void TrainingLoop::restore(const RunState& state) {
  state_ = state;
  adam_.set_step(state_.update);
  average_.set_snapshots(state_.snapshots);
  pass_.prepare();
}

AttentionRecord probe_record(const Transformer& model, const Tokenizer& tokenizer,
                             const TrainerSetup& setup, std::uint64_t update) {
  TranslationSettings settings{setup.decode, setup.languages};
  // An untrained model never emits an end token, and its attention maps would fill the disk.
  const std::size_t length =
      tokenizer.encode_source(setup.probe, setup.languages.source).ids.size();
  if (to_size(settings.decode.max_new_tokens) > 2 * length + 10) settings.decode.max_new_tokens = 0;
  ModelSummary summary = summarise(setup.model);
  summary.name = setup.title;
  summary.update = update;
  const Translator translator(model, tokenizer, std::move(summary));
  const PreparedSentence sentence = translator.prepare(setup.probe, settings);
  RecordRequest request{{&sentence, 1}, settings, {false, false, recorded_alternatives}};
  if (!setup.probe_target.empty()) {
    request.search = false;
    request.target = translator.target_ids(setup.probe_target, settings);
  }
  return std::move(translator.record(request).front());
}

}  // namespace attn
