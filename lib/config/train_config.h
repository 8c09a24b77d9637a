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
  cosine,  ///< likewise, in half a wave (Loshchilov and Hutter 2017)
};

/// Which weights are validated and kept besides those that the optimizer moves.
enum class WeightAveraging {
  none,
  exponential,  ///< after each update average ← decay · average + (1 − decay) · weights
  checkpoints,  ///< the mean of the last checkpoints' weights
};

/// The metric that decides which model is the best.
enum class ValidationMetric { bleu, chrf, loss };

/// In what the products' factors are kept; sums, weights and everything else are float32.
enum class TrainingPrecision { float32, bfloat16 };

/// The field's comment begins with its key where that is not its name.
struct TrainConfig {
  std::uint64_t updates = 0;  ///< number of updates after which training stops; 0: no limit
  std::uint64_t epochs = 0;   ///< number of epochs after which training stops; 0: no limit
  double minutes = 0;         ///< stop after so much time since this start or --resume; 0: no limit
  /// A batch's sentences times its longest sentence, of either side, is at most this.
  std::uint64_t batch_tokens = 3000;
  std::uint64_t accumulate = 1;  ///< batches an update
  double learning_rate = 1e-3;   ///< the largest, at the end of the warm-up
  std::uint64_t warmup_updates = 2000;
  LearningRateSchedule schedule = LearningRateSchedule::inverse_sqrt;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.98;
  double adam_epsilon = 1e-9;
  double label_smoothing = 0.1;
  /// Weight of the divergence of two passes under other dropout (Liang et al. 2021; 5 there); 0:
  /// one pass.
  double r_drop = 0;
  double clip_norm = 1.0;  ///< largest norm of the gradient; 0: no clipping
  WeightAveraging average = WeightAveraging::none;
  double average_decay = 0.999;      ///< of the exponential one
  std::uint64_t average_last = 5;    ///< checkpoints of the other
  std::uint64_t validate_every = 0;  ///< updates; 0: at the end of each epoch
  /// Before the first validation the run is looked at, too: at update 0, 1 and so on, each time
  /// this factor later (and at least one update). Nothing is decided then. 0: not at all.
  double early_growth = 1.5;
  bool early_scores = false;             ///< early looks translate the dev part, too: BLEU and chrF
  std::uint64_t validate_beams = 1;      ///< 1 is greedy search
  std::uint64_t checkpoint_every = 500;  ///< updates
  std::uint64_t log_every = 50;          ///< updates
  /// Number of validations in a row without a better result after which training stops; 0: never.
  std::uint64_t patience = 0;
  ValidationMetric metric = ValidationMetric::bleu;
  std::uint64_t max_length = 0;  ///< tokens; longer pairs are skipped. 0: the model's positions
  /// Word alignments of data.train, which guide some heads of a cross-attention layer (Garg et al.
  /// 2019); empty: none. Absolute after read_experiment.
  std::string guided_alignment;
  double guided_alignment_weight = 0.05;  ///< of its loss, beside the cross-entropy's 1
  /// Decoder layer, from 0; nothing: the last but one, or the only one.
  std::optional<std::uint64_t> guided_alignment_layer;
  std::vector<int> guided_alignment_heads{0};  ///< whose mean is guided, from 0
  TrainingPrecision precision = TrainingPrecision::float32;
  std::uint64_t seed = 1;  ///< of weights, order, drawn cuts and dropout

  /// The learning rate of update t, counted from 1.
  double learning_rate_at(std::uint64_t t) const;

  /// True if update t (0: before the first) is an early validation by early_growth, regardless of
  /// when validations begin.
  bool is_early_validation(std::uint64_t t) const;
};

/// Strict: unknown keys name the nearest known one, values out of range say the range (InputError
/// beginning with `where`). At least one of updates, epochs, minutes and patience ends the run.
TrainConfig train_config_from_experiment(const Json& json, const std::string& where);

}  // namespace attn
