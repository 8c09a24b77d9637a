#include "service/training/training_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace attn {
namespace {

constexpr int kPlainColumns = 80;

/// Formats a number as "4,812".
std::string with_commas(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  if (!(number >= 0 && number < 1e15)) return digits;
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

/// Formats e^loss, which may have any magnitude.
std::string perplexity_text(double value) {
  if (value >= 1e6) return fmt::format("{:.1e}", value);
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace

std::vector<StatusPart> update_parts(const UpdateMetrics& metrics, LossNames names) {
  std::vector<StatusPart> parts;
  parts.push_back({fmt::format("epoch {}", metrics.epoch), 3});
  parts.push_back({metrics.updates > 0
                       ? fmt::format("update {}/{}", metrics.update, metrics.updates)
                       : fmt::format("update {}", metrics.update),
                   0});
  const char* smoothed = names == LossNames::smoothed ? "smoothed " : "";
  parts.push_back({fmt::format("{}loss {:.2f}", smoothed, metrics.loss), 1});
  parts.push_back({fmt::format("{} tokens/s", with_commas(metrics.tokens_per_second)), 4});
  parts.push_back({fmt::format("lr {:.1e}", metrics.learning_rate), 5});
  const double left = metrics.seconds_left.value_or(-1);
  if (left >= 0 && left < 1e8) parts.push_back({format_duration(left) + " left", 2});
  return parts;
}

std::string update_line(const UpdateMetrics& metrics, LossNames names) {
  return fit_to_width(update_parts(metrics, names), kPlainColumns);
}

std::string validation_line(const ValidationMetrics& metrics, LossNames names) {
  const bool smoothed = names == LossNames::smoothed;
  std::string line = fmt::format("dev {}: {}loss {:.3f}, {}ppl {}", metrics.point.update,
                                 smoothed ? "smoothed " : "", metrics.point.loss,
                                 smoothed ? "plain " : "", perplexity_text(metrics.perplexity));
  if (!std::isnan(metrics.point.bleu)) {
    line += fmt::format(", BLEU {:.2f}, chrF2 {:.2f}", metrics.point.bleu, metrics.point.chrf);
  }
  return line + (metrics.best ? ", best" : "");
}

namespace {

/// Formats "3 epochs", or "1 epoch" without an s.
std::string count_of(std::uint64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string end_explanation(EndReason reason, const TrainConfig& train, int signal) {
  switch (reason) {
    case EndReason::updates:
      return fmt::format("{} made (train.updates)", count_of(train.updates, "update"));
    case EndReason::epochs:
      return fmt::format("{} made (train.epochs)", count_of(train.epochs, "epoch"));
    case EndReason::patience:
      return fmt::format("{} in a row found no better model (train.patience)",
                         count_of(train.patience, "validation"));
    case EndReason::time:
      return fmt::format("{:g} minutes have passed (train.minutes)", train.minutes);
    case EndReason::signal:
      break;
  }
  const char* name = strsignal(signal);
  return fmt::format("{} ({})", signal, name != nullptr ? name : "unknown");
}

}  // namespace

std::string end_line(const TrainingOutcome& outcome, const TrainConfig& train, int signal) {
  const bool counted = outcome.updates >= outcome.update && outcome.updates > 0;
  return fmt::format("ended at update {}{} by {}: {}", outcome.update,
                     counted ? fmt::format(" of {}", outcome.updates) : "", name_of(outcome.reason),
                     end_explanation(outcome.reason, train, signal));
}

}  // namespace attn
