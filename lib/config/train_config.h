// The training settings: the `train` section of an experiment file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace attn {

/// The course of the learning rate after the warm-up, in which it rises linearly.
enum class LearningRateSchedule {
  inverse_sqrt,  ///< · √(warmup / update) (Vaswani et al. 2017, section 5.3)
  constant,
  linear,  ///< down to 0 just after the last update
  cosine,  ///< the same, along half a cosine (Loshchilov and Hutter 2017)
};

/// The weights that are validated and saved instead of the optimizer's own.
enum class WeightAveraging {
  none,
  exponential,  ///< after each update average ← decay · average + (1 − decay) · weights
  checkpoints,  ///< the mean of the last checkpoints' weights
};

/// The metric that decides which model is the best.
enum class ValidationMetric { bleu, chrf, loss };

/// The number format of matrix multiplication inputs in training. Sums, weights and everything
/// else are float32.
enum class TrainingPrecision { float32, bfloat16 };

/// A field's comment begins with its key if that is not its name.
struct TrainConfig {
  std::uint64_t updates = 0;  ///< number of updates after which training stops; 0: no limit
  std::uint64_t epochs = 0;   ///< number of epochs after which training stops; 0: no limit
  double minutes =
      0;  ///< minutes since this start or --resume after which training stops; 0: no limit
  /// Maximum of a batch's number of sentences times the length of its longest sentence on either
  /// side.
  std::uint64_t batch_tokens = 3000;
  std::uint64_t accumulate = 1;  ///< batches per update
  double learning_rate = 1e-3;   ///< the largest one, at the end of the warm-up
  std::uint64_t warmup_updates = 2000;
  LearningRateSchedule schedule = LearningRateSchedule::inverse_sqrt;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.98;
  double adam_epsilon = 1e-9;
  double label_smoothing = 0.1;
  /// Weight of the divergence of two passes with different dropout (Liang et al. 2021; 5 there);
  /// 0: one pass.
  double r_drop = 0;
  double clip_norm = 1.0;  ///< maximum norm of the gradient; 0: no clipping
  WeightAveraging average = WeightAveraging::none;
  double average_decay = 0.999;      ///< decay of the exponential average
  std::uint64_t average_last = 5;    ///< number of checkpoints of the other average
  std::uint64_t validate_every = 0;  ///< in updates; 0: at the end of each epoch
  /// Before the first regular validation, the model is also validated early: at update 0, 1 and so
  /// on, each time this factor later (and at least one update). These validations decide nothing.
  /// 0: none.
  double early_growth = 1.5;
  bool early_scores = false;  ///< early validations also translate the dev set: BLEU and chrF
  std::uint64_t validate_beams = 1;      ///< 1 is greedy search
  std::uint64_t checkpoint_every = 500;  ///< in updates
  std::uint64_t log_every = 50;          ///< in updates
  /// Number of validations in a row without a better result after which training stops; 0: never.
  std::uint64_t patience = 0;
  ValidationMetric metric = ValidationMetric::bleu;
  std::uint64_t max_length = 0;  ///< tokens; longer pairs are skipped. 0: the model's positions
  /// Word alignments of data.train, which guide some heads of a cross-attention layer (Garg et al.
  /// 2019); empty: none. Absolute after read_experiment.
  std::string guided_alignment;
  double guided_alignment_weight = 0.05;  ///< weight of its loss, besides the cross-entropy's 1
  /// Decoder layer, from 0; nothing: the second-to-last one, or the only one.
  std::optional<std::uint64_t> guided_alignment_layer;
  std::vector<int> guided_alignment_heads{0};  ///< the heads whose mean is guided, from 0
  TrainingPrecision precision = TrainingPrecision::float32;
  std::uint64_t seed = 1;  ///< seed of weights, order, subword sampling and dropout

  /// Returns the learning rate of update t, counted from 1.
  double learning_rate_at(std::uint64_t t) const;

  /// True if update t (0: before the first) is an early validation by early_growth, regardless of
  /// when validations begin.
  bool is_early_validation(std::uint64_t t) const;
};

/// Reads the section. Throws InputError that begins with `where`: for an unknown key it names the
/// nearest known one, for a value out of range the range. At least one of updates, epochs, minutes
/// and patience must end the run.
TrainConfig train_config_from_experiment(const Json& json, const std::string& where);

}  // namespace attn
