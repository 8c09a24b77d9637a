#include "lock.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace py = pybind11;

namespace attn {
namespace {

std::atomic<int> under_way{0};  ///< calls
thread_local int own_calls = 0;
std::atomic<bool> python_ends{false};
thread_local bool ends_python = false;  ///< this thread does

void stay_where_python_ends() {
  if (!python_ends || ends_python) return;
  under_way -= own_calls;
  for (;;) pause();
}

void end() {
  ends_python = true;
  python_ends = true;
  const py::gil_scoped_release unlocked;
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (under_way > 0 && std::chrono::steady_clock::now() < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {
  ++own_calls;
  ++under_way;
}

Unlocked::~Unlocked() {
  stay_where_python_ends();
  PyEval_RestoreThread(state_);
  --under_way;
  --own_calls;
}

Locked::Locked() {
  stay_where_python_ends();
  state_ = PyGILState_Ensure();
}

void wait_at_exit() {
  pthread_atfork(nullptr, nullptr, [] { under_way = own_calls; });  // the others are not there
  py::module_::import("atexit").attr("register")(py::cpp_function(end));
}

}  // namespace attn
