#include "training.h"

#include <atomic>
#include <csignal>
#include <memory>

#include "base/strings/utf8.h"
#include "lock.h"
#include "options.h"

namespace py = pybind11;

namespace attn {
namespace {

/// What a run tells goes to a function of Python, which gets ("update" | "look" | "note", the
/// program's line, figures).
class Listener : public RunListener {
 public:
  Listener(const std::string& directory, LossNames names, py::handle progress,
           std::atomic<int>& stop)
      : RunListener(directory), names_(names), progress_(progress), stop_(stop) {}

  void updated(const UpdateFigures& f) override {
    const Locked lock;
    if (PyErr_CheckSignals() != 0) stop_or_throw(py::error_already_set());
    if (progress_.is_none()) return;
    py::dict told;
    told["epoch"] = f.epoch;
    told["update"] = f.update;
    told["updates"] = f.updates > 0 ? py::object(py::int_(f.updates)) : py::none();
    told["loss"] = f.loss;
    told["tokens_per_second"] = f.tokens_per_second;
    told["learning_rate"] = f.learning_rate;
    told["log"] = f.log;
    tell("update", update_line(f, names_), told);
  }
  void looked(const LookFigures& f) override {
    const Locked lock;
    if (progress_.is_none()) return;
    py::dict told;
    told["update"] = f.point.update;
    told["loss"] = f.point.loss;
    told["perplexity"] = f.perplexity;
    told["bleu"] = f.point.bleu;
    told["chrf"] = f.point.chrf;
    told["best"] = f.best;
    tell("look", look_line(f, names_), told);
  }
  void say(const std::string& text) override {
    const Locked lock;
    if (!progress_.is_none()) tell("note", printable(text), py::dict());
  }

 private:
  void tell(const char* what, const std::string& line, const py::dict& figures) {
    try {
      progress_(what, line, figures);
    } catch (const py::error_already_set& error) {
      stop_or_throw(error);
    }
  }

  /// The first Ctrl-C saves, wherever Python meets it; a second one ends at once, and so does what
  /// else is thrown.
  void stop_or_throw(const py::error_already_set& error) {
    if (stop_ != 0 || !error.matches(PyExc_KeyboardInterrupt)) throw error;
    stop_ = SIGINT;
  }

  LossNames names_;
  py::handle progress_;
  std::atomic<int>& stop_;
};

class Owner : public RunOwner {
 public:
  explicit Owner(py::handle progress) : progress_(progress) {}
  std::unique_ptr<RunListener> begins(const std::string& directory, LossNames names) override {
    return std::make_unique<Listener>(directory, names, progress_, stop_);
  }
  const std::atomic<int>& stop() override { return stop_; }

 private:
  py::handle progress_;
  std::atomic<int> stop_{0};
};

/// Whether the run ended by itself, and not by Ctrl-C.
bool train(const py::dict& options, const py::object& progress) {
  const TrainingRequest asked = training_request(options);
  Owner owner(progress);
  const Unlocked unlocked;
  return run_training(asked, owner) == TrainingEnd::finished;
}

}  // namespace

void add_training(py::module_& module) {
  module.def("train", &train, py::arg("options"), py::arg("progress"));
}

}  // namespace attn
