// The GIL between the interpreter and the libraries, and the handling of running calls when the
// interpreter exits.
#pragma once

#include <pybind11/pybind11.h>

namespace attn {

/// Releases the GIL while the libraries compute, so that other Python threads run.
///
/// Before Python 3.14, a thread that acquires the GIL of an exiting interpreter is terminated
/// inside C++ code, which kills the process. Daemon threads that are still running when the
/// interpreter exits therefore block here, at the end of their batch, update or call.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the GIL while a library calls a Python function.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Makes the interpreter wait at exit for running calls, for a few seconds at most. Call this once,
/// during module creation.
void register_exit_handler();

// Conversion of library errors to Python exceptions.

/// Converts attn::Error to the class in attn_demo.errors with its exit code, and lack of memory to
/// OutOfMemoryError; the text is the program's error line. Call this once, during module creation.
void register_exceptions();

}  // namespace attn
