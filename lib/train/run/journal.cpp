#include "train/run/journal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace {

/// e^nll, kept finite: a diverging model's is beyond any use.
double perplexity(double nll) {
  return std::exp(std::min(nll, 700.0));
}

}  // namespace

TrainingLog::TrainingLog(std::string directory, std::string title, TrainingListener& listener)
    : directory_(std::move(directory)), title_(std::move(title)), listener_(listener) {}

void TrainingLog::open(const RunState& state) {
  log_.emplace(path("train.jsonl"), state.log_bytes);
  probe_.emplace(path("probe.jsonl"), state.probe_bytes);
  curve_ = read_curve(path("train.jsonl"));
  curve_.title = title_;
}

void TrainingLog::train(const RunState& state, const UpdateMetrics& metrics, double gradient_norm) {
  const Json line = {{"event", "train"},
                     {"epoch", metrics.epoch},
                     {"update", state.update},
                     {"loss", metrics.loss},
                     {"nll", mean_of(state.since_log.nll, state.since_log.tokens)},
                     {"tokens", state.since_log.tokens},
                     {"tokens_per_second", metrics.tokens_per_second},
                     {"learning_rate", metrics.learning_rate},
                     {"gradient_norm", gradient_norm}};
  log_->append(line.dump());
  curve_.train.push_back({state.update, metrics.loss});
}

void TrainingLog::epoch(const RunState& state) {
  const Json line = {{"event", "epoch"},
                     {"epoch", state.epoch},
                     {"update", state.update},
                     {"loss", mean_of(state.in_epoch.loss, state.in_epoch.tokens)},
                     {"nll", mean_of(state.in_epoch.nll, state.in_epoch.tokens)},
                     {"tokens", state.in_epoch.tokens}};
  log_->append(line.dump());
}

/// What both kinds of looks have, for the log, the curve and the listener.
Json TrainingLog::add_validation(const char* event, const RunState& state, const ValidationResult& result) {
  const double loss = mean_of(result.loss.loss, result.loss.tokens);
  const double nll = mean_of(result.loss.nll, result.loss.tokens);
  Json line = {
      {"event", event}, {"epoch", epoch_of(state)},     {"update", state.update}, {"loss", loss},
      {"nll", nll},     {"perplexity", perplexity(nll)}};
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  TrainingCurve::Validation point{state.update, loss, kNone, kNone};
  if (result.scores) {
    line["bleu"] = point.bleu = result.scores->bleu.score;
    line["chrf"] = point.chrf = result.scores->chrf.score;
  }
  curve_.validations.push_back(point);
  return line;
}

void TrainingLog::validation(const RunState& state, const ValidationResult& result, bool best,
                         double seconds) {
  Json line = add_validation("validation", state, result);
  line["best"] = best;
  line["seconds"] = seconds;
  log_->append(line.dump());
  listener_.validated({curve_.validations.back(), line["perplexity"].get<double>(), best});
}

void TrainingLog::early_validation(const RunState& state, const ValidationResult& result, double seconds) {
  Json line = add_validation("early", state, result);
  line["seconds"] = seconds;
  log_->append(line.dump());
  listener_.validated({curve_.validations.back(), line["perplexity"].get<double>()});
}

void TrainingLog::probe(const AttentionRecord& record) {
  probe_->append(listener_.record_line(record));
}

void TrainingLog::show_curve(std::uint64_t best_update) {
  if (best_update > 0) curve_.best_update = best_update;
  listener_.curve_changed(curve_);
}

void TrainingLog::sync(RunState& state) {
  log_->sync();
  probe_->sync();
  state.log_bytes = log_->bytes();
  state.probe_bytes = probe_->bytes();
}

}  // namespace attn
