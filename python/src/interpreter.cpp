#include "lock.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace py = pybind11;

namespace attn {
namespace {

std::atomic<int> calls_in_progress{0};  ///< calls
thread_local int calls_of_thread = 0;
std::atomic<bool> interpreter_exiting{false};
thread_local bool runs_exit_handler = false;  ///< this thread does

void block_if_interpreter_exits() {
  if (!interpreter_exiting || runs_exit_handler) return;
  calls_in_progress -= calls_of_thread;
  for (;;) pause();
}

void on_interpreter_exit() {
  runs_exit_handler = true;
  interpreter_exiting = true;
  const py::gil_scoped_release released;
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (calls_in_progress > 0 && std::chrono::steady_clock::now() < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

GilRelease::GilRelease() : state_(PyEval_SaveThread()) {
  ++calls_of_thread;
  ++calls_in_progress;
}

GilRelease::~GilRelease() {
  block_if_interpreter_exits();
  PyEval_RestoreThread(state_);
  --calls_in_progress;
  --calls_of_thread;
}

GilAcquire::GilAcquire() {
  block_if_interpreter_exits();
  state_ = PyGILState_Ensure();
}

void register_exit_handler() {
  pthread_atfork(nullptr, nullptr, [] { calls_in_progress = calls_of_thread; });  // the others are not there
  py::module_::import("atexit").attr("register")(py::cpp_function(on_interpreter_exit));
}

}  // namespace attn
