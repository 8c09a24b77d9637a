#include <pthread.h>
#include <pybind11/pybind11.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "interpreter.h"
#include "service/field_text.h"

namespace py = pybind11;

namespace attn {
namespace {

std::atomic<int> calls_in_progress{0};  ///< calls of all threads
thread_local int calls_of_thread = 0;
std::atomic<bool> interpreter_exiting{false};
thread_local bool runs_exit_handler = false;  ///< true while this thread runs the handler

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
  pthread_atfork(nullptr, nullptr, [] {
    calls_in_progress = calls_of_thread;
  });  // the other threads do not exist in the child
  py::module_::import("atexit").attr("register")(py::cpp_function(on_interpreter_exit));
}

}  // namespace attn

namespace py = pybind11;

namespace attn {
namespace {

void raise(ExitCode code, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const py::object make = py::module_::import("attn_demo.errors").attr("of_exit_code");
  const py::object error = make(static_cast<int>(code), shorten_message(printable(line)));
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error.code(), message_for(error, option_name));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    raise(ExitCode::memory, "out of memory; choose a smaller model, batch or beam");
  }
}

}  // namespace

void register_exceptions() {
  py::register_exception_translator(translate);
}

}  // namespace attn
