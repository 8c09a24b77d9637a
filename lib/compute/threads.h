// The program's threads: loops whose turns are independent, shared out among a few workers.
//
// Why not OpenMP's? Its workers wait for one another by spinning. Where another program wants the
// same cores, the spinning takes the very time that the others' work would need, and a run on two
// threads becomes many times slower than on one. Here a worker that finds nothing to do spins for a
// few microseconds only, the turns are handed out one after another, and whoever has a core does
// them.
//
// One loop at a time has the workers. Loops inside of its turns, and loops that other threads of
// the process begin meanwhile, run where they are: slower, with the same results. A child of fork()
// begins with no workers and makes its own; what a task forks should only exec.
#pragma once

#include <pthread.h>
#include <memory>
#include <new>

#include "base/index.h"

namespace attn {

/// Threads that products and attention may use from now on (at least 1). Waits for a loop that
/// another thread runs; std::logic_error inside a task. Where the system starts fewer, loops run on
/// those.
void set_threads(int threads);
int threads();

/// Cores that this process may run on.
int available_cores();

/// Whether more threads could help here: there are several, and this is neither one of their tasks
/// nor one that runs alone.
bool may_use_threads();

/// While it lives, this thread's loops run where they are: others of the process have the cores.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

/// Calls run(context, i) for every i in [0, count), each once, on the threads; returns when all are
/// done. Where calls throw, no new ones begin, and when all that began have ended, the exception of
/// the lowest i is thrown here: the one that a plain loop would have met.
void run_on_threads(Index count, void (*run)(void* context, Index i), void* context);

/// Calls f(i) for i in [0, count) on the threads when the whole costs at least ~2¹⁷ multiply-adds,
/// here otherwise. Exceptions as with run_on_threads().
template <typename F>
void parallel_for(Index count, Index multiply_adds, F&& f) {
  if (count > 1 && multiply_adds >= (Index{1} << 17) && may_use_threads()) {
    run_on_threads(
        count, [](void* context, Index i) { (*static_cast<F*>(context))(i); }, &f);
  } else {
    for (Index i = 0; i < count; ++i) f(i);
  }
}

// Memory that each thread keeps from call to call.

/// The T of this thread, made at its first call and destroyed with the thread. One for each type:
/// name a struct of its own for each use. std::bad_alloc where there is no memory for it.
///
/// Why not thread_local? Where there is no memory to note that a thread_local object is to be
/// destroyed, glibc ends the process by abort().
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
