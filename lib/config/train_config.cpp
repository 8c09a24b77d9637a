#include "config/train_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

constexpr double kMostUpdates = 1e12;
constexpr double kMostMinutes = 1e9;
constexpr double kLeastGrowth = 1.01;
constexpr double kMostGrowth = 1000;
constexpr double kMostSeed = 9007199254740992.0;  // 2^53: exact in every JSON implementation

/// Reads the values of one section and checks their ranges.
class TrainSectionReader {
 public:
  TrainSectionReader(const Json& json, const std::string& where) : keys_(json, where, "train.") {}

  void whole(const char* key, double low, double high, std::uint64_t& value) {
    const std::optional<double> found = keys_.size(key);
    if (!found) return;
    if (*found < low || *found > high) {
      keys_.fail(key, fmt::format("{} is out of range; use {} to {}", *found, low, high));
    }
    value = static_cast<std::uint64_t>(*found);
  }

  static std::string range(double low, double high, bool closed) {
    return fmt::format("a number {} {} and below {}", closed ? "from" : "above", low, high);
  }

  /// Reads a number from `low` to `high`. `low` itself is allowed if `closed`; `high` never is.
  void real(const char* key, double low, double high, bool closed, double& value) {
    const std::optional<double> found = keys_.number(key);
    if (!found) return;
    const bool above = closed ? *found >= low : *found > low;
    if (!above || !(*found < high)) {
      keys_.fail(key, fmt::format("{} is out of range; use {}", *found, range(low, high, closed)));
    }
    value = *found;
  }

  /// Reads a number like real(), for use as a 32-bit float: it must also be in range after
  /// rounding to float, and a nonzero value may not become 0.
  void real32(const char* key, double low, double high, bool closed, double& value) {
    const std::optional<double> found = keys_.number(key);
    real(key, low, high, closed, value);
    if (found) keys_.as_float(key, value, high, range(low, high, closed));
  }

  /// Reads a growth factor; 0 means no growth.
  void growth(const char* key, double& value) {
    const std::optional<double> found = keys_.number(key);
    if (!found) return;
    if (*found != 0 && !(*found >= kLeastGrowth && *found <= kMostGrowth)) {
      keys_.fail(key, fmt::format("{} is out of range; use a factor from {} to {}, or 0", *found,
                                  kLeastGrowth, kMostGrowth));
    }
    value = *found;
  }

  template <typename T>
  void choice(const char* key, const std::vector<std::pair<std::string, T>>& choices, T& value) {
    const std::optional<std::string> found = keys_.text(key);
    if (!found) return;
    std::vector<std::string> names;
    for (const auto& [name, meaning] : choices) {
      if (name == *found) {
        value = meaning;
        return;
      }
      names.push_back(name);
    }
    keys_.fail(key, fmt::format("{} is not known; use {}", in_quotes(*found), list_words(names)));
  }

  KeyReader& keys() { return keys_; }

 private:
  KeyReader keys_;
};

void read_length(TrainSectionReader& reader, TrainConfig& c) {
  reader.whole("updates", 0, kMostUpdates, c.updates);
  reader.whole("epochs", 0, kMostUpdates, c.epochs);
  reader.real("minutes", 0, kMostMinutes, true, c.minutes);
  reader.whole("patience", 0, kMostUpdates, c.patience);
  reader.whole("batch_tokens", 1, 1e9, c.batch_tokens);
  reader.whole("accumulate", 1, 1e6, c.accumulate);
  reader.whole("max_length", 0, 1e6, c.max_length);
  reader.whole("validate_every", 0, kMostUpdates, c.validate_every);
  reader.growth("early_growth", c.early_growth);
  if (const auto scores = reader.keys().boolean("early_scores")) c.early_scores = *scores;
  reader.whole("validate_beams", 1, 1000, c.validate_beams);
  reader.whole("checkpoint_every", 1, kMostUpdates, c.checkpoint_every);
  reader.whole("log_every", 1, kMostUpdates, c.log_every);
  reader.whole("seed", 0, kMostSeed, c.seed);
}

void read_optimizer(TrainSectionReader& reader, TrainConfig& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  reader.real32("learning_rate", 0, 1e6, false, c.learning_rate);
  reader.whole("warmup_updates", 0, kMostUpdates, c.warmup_updates);
  reader.real32("adam_beta1", 0, 1, true, c.adam_beta1);
  reader.real32("adam_beta2", 0, 1, true, c.adam_beta2);
  reader.real32("adam_epsilon", 0, 1, false, c.adam_epsilon);
  reader.real32("label_smoothing", 0, 1, true, c.label_smoothing);
  reader.real32("r_drop", 0, 1000, true, c.r_drop);
  reader.real32("clip_norm", 0, kInfinity, true, c.clip_norm);
  reader.choice<TrainingPrecision>(
      "precision",
      {{"float32", TrainingPrecision::float32}, {"bfloat16", TrainingPrecision::bfloat16}},
      c.precision);
  reader.choice<LearningRateSchedule>("schedule",
                                      {{"inverse_sqrt", LearningRateSchedule::inverse_sqrt},
                                       {"constant", LearningRateSchedule::constant},
                                       {"linear", LearningRateSchedule::linear},
                                       {"cosine", LearningRateSchedule::cosine}},
                                      c.schedule);
}

void read_guided_alignment(TrainSectionReader& reader, TrainConfig& c) {
  KeyReader& keys = reader.keys();
  if (const auto file = keys.text("guided_alignment")) c.guided_alignment = *file;
  reader.real32("guided_alignment_weight", 0, 1000, false, c.guided_alignment_weight);
  if (keys.find("guided_alignment_layer") != nullptr) {
    reader.whole("guided_alignment_layer", 0, 1e6, c.guided_alignment_layer.emplace());
  }
  const Json* heads = keys.find_not_null("guided_alignment_heads");
  if (heads == nullptr) return;
  const bool whole = heads->is_array() && !heads->empty() && heads->size() <= 1000 &&
                     std::ranges::all_of(*heads, [](const Json& head) {
                       return head.is_number_unsigned() && head.get<std::uint64_t>() < 1000;
                     });
  if (!whole) keys.fail_type("guided_alignment_heads", *heads, "a list of heads, as in [0, 1]");
  c.guided_alignment_heads = heads->get<std::vector<int>>();
  std::ranges::sort(c.guided_alignment_heads);
  if (std::ranges::adjacent_find(c.guided_alignment_heads) != c.guided_alignment_heads.end()) {
    keys.fail("guided_alignment_heads", "names a head twice");
  }
}

void read_model_selection(TrainSectionReader& reader, TrainConfig& c) {
  reader.choice<WeightAveraging>("average",
                                 {{"none", WeightAveraging::none},
                                  {"exponential", WeightAveraging::exponential},
                                  {"checkpoints", WeightAveraging::checkpoints}},
                                 c.average);
  reader.real("average_decay", 0, 1, true, c.average_decay);
  reader.whole("average_last", 1, 100, c.average_last);
  reader.choice<ValidationMetric>("metric",
                                  {{"bleu", ValidationMetric::bleu},
                                   {"chrf", ValidationMetric::chrf},
                                   {"loss", ValidationMetric::loss}},
                                  c.metric);
}

}  // namespace

double TrainConfig::learning_rate_at(std::uint64_t t) const {
  const auto now = static_cast<double>(t);
  const auto warmup = static_cast<double>(warmup_updates);
  if (t < warmup_updates) return learning_rate * now / warmup;
  // Steps count from 0, as in transformers' get_linear_schedule_with_warmup and
  // get_cosine_schedule_with_warmup: the update after the warm-up has the largest learning rate,
  // and 0 would only be reached after the last update.
  const auto last = static_cast<double>(updates);
  const double gone = std::clamp((now - 1.0 - warmup) / std::max(1.0, last - warmup), 0.0, 1.0);
  switch (schedule) {
    case LearningRateSchedule::inverse_sqrt:
      return learning_rate * std::sqrt(std::max(1.0, warmup) / now);
    case LearningRateSchedule::constant:
      return learning_rate;
    case LearningRateSchedule::linear:
      return learning_rate * (1.0 - gone);
    case LearningRateSchedule::cosine:
      return learning_rate * 0.5 * (1.0 + std::cos(std::numbers::pi * gone));
  }
  return learning_rate;
}

bool TrainConfig::is_early_validation(std::uint64_t t) const {
  if (early_growth == 0) return false;
  std::uint64_t look = 0;
  while (look < t) {
    const double grown = std::ceil(static_cast<double>(look) * early_growth);
    look = std::max(look + 1, static_cast<std::uint64_t>(std::min(grown, kMostUpdates)));
  }
  return look == t;
}

TrainConfig train_config_from_experiment(const Json& json, const std::string& where) {
  TrainConfig c;
  TrainSectionReader reader(json, where);
  read_length(reader, c);
  read_optimizer(reader, c);
  read_model_selection(reader, c);
  read_guided_alignment(reader, c);
  reader.keys().refuse_unused();
  const bool falls =
      c.schedule == LearningRateSchedule::linear || c.schedule == LearningRateSchedule::cosine;
  if (falls && c.updates == 0) {
    reader.keys().fail("updates",
                       "is missing; the linear and cosine schedules end at the last update");
  }
  return c;
}

}  // namespace attn
