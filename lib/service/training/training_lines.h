// The reports of a training run, as lines.
#pragma once

#include <string>
#include <vector>

#include "config/train_config.h"
#include "train/run/end_reason.h"
#include "train/run/training_listener.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// The names of the two losses in lines. With label smoothing, the loss is not the one from which
/// the perplexity is computed, so each line says which it is.
enum class LossNames { plain, smoothed };

/// Returns "epoch 2", "update 700/1236", "loss 4.91", "4,812 tokens/s", "lr 3.5e-04", "2:10 left".
std::vector<StatusPart> update_parts(const UpdateMetrics& metrics, LossNames names);

/// Returns the same as a plain line of at most 80 columns.
std::string update_line(const UpdateMetrics& metrics, LossNames names);

/// Describes a validation: "dev 700: smoothed loss 2.345, plain ppl 6.78, BLEU 12.34, chrF2 34.56,
/// best".
std::string validation_line(const ValidationMetrics& metrics, LossNames names);

/// Describes why a run ended: "ended at update 90 of 900 by patience: 3 validations in a row found
/// no better model (train.patience)". `signal` is the number of the signal that stopped it, if
/// any.
std::string end_line(const TrainingOutcome& outcome, const TrainConfig& train, int signal);

}  // namespace attn
