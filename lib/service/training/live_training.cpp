#include "service/training/live_training.h"

#include <atomic>
#include <bit>
#include <filesystem>
#include <limits>
#include <utility>

#include "analysis/alignment.h"
#include "base/at.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"
#include "service/model/languages.h"
#include "service/model/model_and_tokenizer.h"
#include "train/training_loop.h"
#include "translate/translator.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

constexpr std::uint64_t kMostUpdates = 100'000;

void set_up(TrainerSetup& setup, const ExperimentConfig& experiment, const Tokenizer& tokenizer) {
  if (!experiment.train.guided_alignment.empty()) {
    throw InputError("{}: train.guided_alignment cannot be used in a training run that is watched",
                     experiment.path);
  }
  setup.train = experiment.train;
  setup.model = experiment.model;
  setup.title = std::filesystem::path(experiment.path).stem().string();
  fit_to_tokenizer(setup.model, tokenizer, experiment.path);
  setup.decode = resolve_decode_options(decode_defaults_for(experiment.decode, setup.model),
                                        setup.model.eos_token_id, experiment.path);
  choose_training_languages(setup, tokenizer.languages(), experiment, {}, setup.title);
  const ParallelText text = read_parallel(experiment.data.train);
  const std::size_t most = max_side_tokens(experiment.model, experiment.train);
  setup.corpus = make_corpus(text, tokenizer, most, setup.languages);
  if (const double sampling = experiment.tokenizer.sampling; sampling > 0) {
    tokenizer.require_sampling(sampling, experiment.path);
    const SubwordSamplingSettings settings{sampling, experiment.train.seed, most,
                                           setup.languages.source};
    setup.sampled.emplace(text, setup.corpus, tokenizer, settings);
  }
  if (!experiment.data.dev.source.empty()) setup.dev = read_parallel(experiment.data.dev);
  setup.probe = experiment.data.probe;
  setup.probe_target = experiment.data.probe_target;
}

std::uint64_t updates_asked(const Json& asked) {
  std::uint64_t updates = 0;
  for (const auto& [key, value] : asked.items()) {
    if (key != "updates") {
      throw UsageError("the request: unknown key {}; a training run only accepts updates",
                       excerpt(key));
    }
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostUpdates) {
      throw UsageError("updates: expected a whole number from 0 to {}", kMostUpdates);
    }
    updates = value.get<std::uint64_t>();
  }
  return updates;
}

std::string digest_of(std::span<const float> numbers) {
  std::string bytes;
  bytes.reserve(numbers.size() * sizeof(float));
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  }
  return sha256_hex(bytes);
}

}  // namespace

LiveTraining::LiveTraining(const std::string& config) {
  const ExperimentConfig experiment = read_experiment(config, {});
  if (experiment.tokenizer.model.empty()) {
    throw InputError(
        "{}: a training run that is watched needs an existing tokenizer; expected tokenizer.model",
        config);
  }
  ready_.tokenizer_directory = experiment.tokenizer.model;
  ready_.tokenizer = std::make_unique<Tokenizer>(experiment.tokenizer.model);
  set_up(setup_, experiment, *ready_.tokenizer);
  ready_.name = setup_.title;
  ready_.decode = decode_defaults_for(experiment.decode, setup_.model);
  ready_.decode.forced_bos_token_id = setup_.decode.forced_bos_token_id;
  ready_.default_forced_eos = setup_.model.eos_token_id;
  names_ = {setup_.title};
  updates_.emplace(setup_);
  if (setup_.dev) {
    validator_.emplace(std::move(*setup_.dev), *ready_.tokenizer, validation_settings(setup_));
  }
  updates_->begin_epoch();
  validate_if_due();
}

const ReadyModel& LiveTraining::model(std::size_t) {
  if (ready_.transformer == nullptr) {
    ready_.transformer = std::make_unique<Transformer>(updates_->model());
  }
  return ready_;
}

void LiveTraining::advance(std::uint64_t count) {
  const std::uint64_t& update = updates_->state().update;
  for (; count > 0 && !updates_->finished(); --count) {
    ready_.transformer.reset();
    const LossSum sum = updates_->update(0);
    unsent_.train.push_back({update, mean_of(sum.loss, sum.tokens)});
    if (updates_->epoch_ends()) updates_->begin_next_epoch();
    if (update % setup_.train.checkpoint_every == 0) updates_->average_checkpoint();
    validate_if_due();
  }
}

/// Validates whenever a run in a directory would, including at its end.
void LiveTraining::validate_if_due() {
  RunState& state = updates_->state();
  const ValidationType due = updates_->validation_due();
  const bool last = updates_->finished() && state.validated_update != state.update;
  if (!validator_ || (due == ValidationType::none && !last)) return;
  const bool scores = due != ValidationType::early || setup_.train.early_scores;
  const std::atomic<int> never{0};
  const Transformer& now = *model(0).transformer;
  const ValidationResult found =
      scores ? *validator_->run(now, never) : validator_->compute_loss(now);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  TrainingCurve::Validation point{state.update, mean_of(found.loss.loss, found.loss.tokens), kNone,
                                  kNone};
  if (found.scores) {
    point.bleu = found.scores->bleu.score;
    point.chrf = found.scores->chrf.score;
  }
  unsent_.validations.push_back(point);
  state.validated_update = state.update;
}

std::string LiveTraining::answer(const Json& asked) {
  const std::uint64_t updates = updates_asked(asked);
  advance(updates);
  const std::string training = training_json();
  unsent_ = {};
  if (setup_.probe.empty()) return page_data({.records = {}, .live = training});
  const std::uint64_t update = updates_->state().update;
  AttentionRecord record = probe_record(*model(0).transformer, *ready_.tokenizer, setup_, update);
  annotate(record, {true, AlignmentOptions{}});
  const std::vector<std::string> records{page_record(record, {})};
  return page_data({.records = records, .live = training});
}

std::string LiveTraining::training_json() {
  std::string text;
  if (!setup_.probe.empty()) {
    const TranslationSettings settings{setup_.decode, setup_.languages};
    const Translator translator(*model(0).transformer, *ready_.tokenizer);
    const PreparedSentence probe = translator.prepare(setup_.probe, settings);
    text = translator.translate({{&probe, 1}, settings}).front().front().text;
  }
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("training", [&] {
        json.object([&] {
          json.member("update", updates_->state().update);
          json.member("updates", updates_->total_updates());
          json.member("finished", updates_->finished());
          json.key("losses");
          json.array(unsent_.train, [&](const TrainingCurve::Loss& point) {
            json.array([&] {
              json.value(point.update);
              json.number_or_null(point.loss);
            });
          });
          json.key("looks");
          json.array(unsent_.validations, [&](const TrainingCurve::Validation& point) {
            json.array([&] {
              json.value(point.update);
              for (const double value : {point.loss, point.bleu, point.chrf}) {
                json.number_or_null(value);
              }
            });
          });
          json.member("text", text);
          json.member("weights", digest_of(updates_->weights()));
        });
      });
    });
  });
}

}  // namespace attn
