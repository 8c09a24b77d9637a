// Memory that each thread keeps from call to call.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace attn {

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
