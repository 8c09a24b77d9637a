// The program's threads: loops with independent iterations, shared among a few workers.
//
// OpenMP is not used because its workers spin while they wait for each other. If another program
// wants the same cores, the spinning takes the time that the other workers need, and a run on two
// threads becomes many times slower than on one. Here an idle worker spins only for a few
// microseconds, iterations are handed out one after another, and any running worker takes the next.
//
// Only one loop at a time has the workers. Nested loops, and loops that other threads begin
// meanwhile, run on their own thread: slower, with the same results. A child of fork() begins
// without workers and creates its own; a child forked by a task should only exec.
#pragma once

#include <pthread.h>
#include <memory>
#include <new>

#include "base/index.h"

namespace attn {

/// Sets the number of threads for matmuls and attention (at least 1). Waits for loops of other
/// threads; throws std::logic_error inside a task. If the system starts fewer threads, loops run on
/// those.
void set_threads(int threads);
int threads();

/// Returns the number of cores that this process may use.
int available_cores();

/// True if more threads could help: there are several, and the current thread is neither running
/// one of their tasks nor in a SerialScope.
bool may_use_threads();

/// While an instance exists, loops of this thread run on this thread alone, leaving the cores to
/// other threads.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

/// Calls run(context, i) once for every i in [0, count) on the threads; returns when all are done.
/// If calls throw, no new ones begin; after the running ones end, the exception of the lowest i is
/// rethrown, as in a plain loop.
void run_on_threads(Index count, void (*run)(void* context, Index i), void* context);

/// Calls f(i) for i in [0, count), on the threads if the total cost is at least ~2¹⁷ multiply-adds,
/// else on this thread. Exceptions work as in run_on_threads().
template <typename F>
void parallel_for(Index count, Index multiply_adds, F&& f) {
  if (count > 1 && multiply_adds >= (Index{1} << 17) && may_use_threads()) {
    run_on_threads(
        count, [](void* context, Index i) { (*static_cast<F*>(context))(i); }, &f);
  } else {
    for (Index i = 0; i < count; ++i) f(i);
  }
}

// Per-thread memory that is kept from call to call.

/// Returns this thread's T, created at the first call and destroyed with the thread. There is one
/// per type, so define a separate struct for each use. Throws std::bad_alloc if memory runs out.
///
/// thread_local is not used because glibc calls abort() if it has no memory to register a
/// thread_local object's destructor.
template <typename T>
T& thread_instance() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto destroy = [](void* object) { delete static_cast<T*>(object); };
    if (pthread_key_create(&made, destroy) != 0) throw std::bad_alloc();
    return made;
  }();
  if (void* const object = pthread_getspecific(key)) return *static_cast<T*>(object);
  auto object = std::make_unique<T>();
  if (pthread_setspecific(key, object.get()) != 0) throw std::bad_alloc();
  return *object.release();
}

}  // namespace attn
