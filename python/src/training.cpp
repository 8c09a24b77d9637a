#include "training.h"

#include <atomic>
#include <csignal>
#include <memory>

#include "base/strings/utf8.h"
#include "interpreter.h"
#include "options.h"

namespace py = pybind11;

namespace attn {
namespace {

/// Passes a run's reports to a Python function, as ("update" | "look" | "note", the program's line,
/// metrics).
class PythonListener : public RunListener {
 public:
  PythonListener(const std::string& directory, LossNames names, py::handle progress,
                 std::atomic<int>& stop)
      : RunListener(directory), names_(names), progress_(progress), stop_(stop) {}

  void updated(const UpdateMetrics& f) override {
    const GilAcquire lock;
    if (PyErr_CheckSignals() != 0) stop_or_throw(py::error_already_set());
    if (progress_.is_none()) return;
    py::dict fields;
    fields["epoch"] = f.epoch;
    fields["update"] = f.update;
    fields["updates"] = f.updates > 0 ? py::object(py::int_(f.updates)) : py::none();
    fields["loss"] = f.loss;
    fields["tokens_per_second"] = f.tokens_per_second;
    fields["learning_rate"] = f.learning_rate;
    fields["log"] = f.log;
    call_progress("update", update_line(f, names_), fields);
  }
  void validated(const ValidationMetrics& f) override {
    const GilAcquire lock;
    if (progress_.is_none()) return;
    py::dict fields;
    fields["update"] = f.point.update;
    fields["loss"] = f.point.loss;
    fields["perplexity"] = f.perplexity;
    fields["bleu"] = f.point.bleu;
    fields["chrf"] = f.point.chrf;
    fields["best"] = f.best;
    call_progress("look", validation_line(f, names_), fields);
  }
  void say(const std::string& text) override {
    const GilAcquire lock;
    if (!progress_.is_none()) call_progress("note", printable(text), py::dict());
  }

 private:
  void call_progress(const char* what, const std::string& line, const py::dict& figures) {
    try {
      progress_(what, line, figures);
    } catch (const py::error_already_set& error) {
      stop_or_throw(error);
    }
  }

  /// Saves and stops at the first Ctrl-C, wherever Python receives it; a second one, or any other
  /// exception, is rethrown at once.
  void stop_or_throw(const py::error_already_set& error) {
    if (stop_ != 0 || !error.matches(PyExc_KeyboardInterrupt)) throw error;
    stop_ = SIGINT;
  }

  LossNames names_;
  py::handle progress_;
  std::atomic<int>& stop_;
};

class PythonFrontEnd : public TrainingFrontEnd {
 public:
  explicit PythonFrontEnd(py::handle progress) : progress_(progress) {}
  std::unique_ptr<RunListener> on_start(const std::string& directory, LossNames names) override {
    return std::make_unique<PythonListener>(directory, names, progress_, stop_);
  }
  const std::atomic<int>& stop() override { return stop_; }

 private:
  py::handle progress_;
  std::atomic<int> stop_{0};
};

/// Returns true if the run ended by itself, false after Ctrl-C.
bool train(const py::dict& options, const py::object& progress) {
  const TrainingRequest asked = training_request(options);
  PythonFrontEnd front_end(progress);
  const GilRelease released;
  return !run_training(asked, front_end).stopped();
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("train", &train, py::arg("options"), py::arg("progress"));
}

}  // namespace attn
