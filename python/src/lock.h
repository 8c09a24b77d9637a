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
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// While a function of Python is called from there.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Has the end of the interpreter wait for calls under way, some seconds at most. Call it once,
/// while the module is made.
void wait_at_exit();

}  // namespace attn
