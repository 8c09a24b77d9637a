#include "train/run/training_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Truncates an open file to `keep` bytes, which must exist and end a line.
void cut_back(int descriptor, const std::string& path, std::uint64_t size, std::uint64_t keep) {
  char last = '\n';
  if (keep > 0 && keep <= size && pread(descriptor, &last, 1, to_index(keep - 1)) != 1) {
    throw_system_error(path, "cannot read", errno);
  }
  if (keep > size || last != '\n') {
    throw InputError(
        "{}: found {} bytes{}, expected the end of a line at byte {}: the file has changed since "
        "the checkpoint; train again into another folder",
        printable(path), size, keep > size ? "" : " and another line there", keep);
  }
  if (size > keep && ftruncate(descriptor, to_index(keep)) != 0) {
    throw_system_error(path, "cannot cut back", errno);
  }
}

}  // namespace

AppendOnlyFile::AppendOnlyFile(const std::string& path, std::uint64_t keep_bytes) : path_(path) {
  FileDescriptor file(open_descriptor(path, O_RDWR | O_CREAT | O_APPEND, 0666));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    throw_system_error(path, "cannot open for writing", errno);
  }
  regular_ = S_ISREG(status.st_mode);
  if (regular_) {
    cut_back(file.number(), path, to_size(status.st_size), keep_bytes);
    bytes_ = keep_bytes;
    sync_directory_of(path);
  }
  descriptor_ = file.release();
}

AppendOnlyFile::~AppendOnlyFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void AppendOnlyFile::append(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  try {
    write_all(descriptor_, bytes, path_);
  } catch (const SystemError&) {
    // If the partial line cannot be removed now, a resumed run will cut it off.
    if (regular_) std::ignore = ftruncate(descriptor_, to_index(bytes_));
    throw;
  }
  if (regular_) bytes_ += bytes.size();
}

void AppendOnlyFile::sync() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) {
    throw_system_error(path_, "cannot write", errno);
  }
}

namespace {

double number_or_nan(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::numeric_limits<double>::quiet_NaN();
  return found->get<double>();
}

void add_line(const Json& line, const std::string& where, TrainingCurve& curve) {
  const auto event = line.find("event");
  if (event == line.end() || !event->is_string()) return;
  const bool train = *event == "train";
  if (!train && *event != "validation" && *event != "early") return;
  const auto update = line.find("update");
  if (update == line.end() || !update->is_number_unsigned()) {
    throw InputError("{}: found no whole number as \"update\", expected one in this event", where);
  }
  const auto at = update->get<std::uint64_t>();
  if (train) {
    curve.train.push_back({at, number_or_nan(line, "loss")});
    return;
  }
  curve.validations.push_back(
      {at, number_or_nan(line, "loss"), number_or_nan(line, "bleu"), number_or_nan(line, "chrf")});
  const auto best = line.find("best");
  if (best != line.end() && *best == true) curve.best_update = at;
}

}  // namespace

TrainingCurve read_curve(const std::string& path) {
  if (!file_exists(path) && !directory_exists(path)) return {};
  return parse_curve(read_file(path), path);
}

TrainingCurve parse_curve(std::string_view content, const std::string& path) {
  TrainingCurve curve;
  std::size_t number = 0;
  for (std::size_t start = 0; start < content.size();) {
    const std::size_t end = std::min(content.find('\n', start), content.size());
    const std::string where = fmt::format("{}: line {}", printable(path), ++number);
    Json line;
    try {
      line = parse_json(content.substr(start, end - start), where);
    } catch (const InputError&) {
    }
    if (!line.is_object()) {
      throw InputError("{}: found no whole JSON object, expected one on each line", where);
    }
    add_line(line, where, curve);
    start = end + 1;
  }
  return curve;
}

namespace {

/// Returns e^nll, kept finite even if the model diverges.
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

/// Adds a full or early validation to the log, the curve and the listener.
Json TrainingLog::add_validation(const char* event, const RunState& state,
                                 const ValidationResult& result) {
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

void TrainingLog::early_validation(const RunState& state, const ValidationResult& result,
                                   double seconds) {
  Json line = add_validation("early", state, result);
  line["seconds"] = seconds;
  log_->append(line.dump());
  listener_.validated({curve_.validations.back(), line["perplexity"].get<double>()});
}

void TrainingLog::end(const RunState& state, EndReason reason) {
  const Json line = {{"event", "end"},
                     {"reason", name_of(reason)},
                     {"epoch", epoch_of(state)},
                     {"update", state.update}};
  log_->append(line.dump());
  log_->sync();
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
