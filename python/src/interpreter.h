// Python's lock, between the interpreter and the libraries; and what becomes of calls under way
// when the interpreter ends.
#pragma once

#include <pybind11/pybind11.h>

namespace attn {

/// While the libraries compute: other threads of Python run.
///
/// A thread that asks an ending interpreter for its lock is ended inside of C++, which ends the
/// process (before Python 3.14). So daemon threads that are still here when the interpreter ends
/// stay here: at the end of their batch, update or call.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// While a function of Python is called from there.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Has the end of the interpreter wait for calls under way, some seconds at most. Call it once,
/// while the module is made.
void register_exit_handler();

// What the libraries throw, as Python's exceptions.

/// attn::Error becomes the class of attn_demo.errors with its exit code, and memory that runs out
/// OutOfMemoryError; the text is the program's line. Call it once, while the module is made.
void register_exceptions();

}  // namespace attn
