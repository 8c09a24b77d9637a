#include "compute/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/at.h"

namespace attn {
namespace {

std::atomic<int> thread_count = 1;
thread_local bool inside_task = false;
thread_local bool in_serial_scope = false;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // similar duration to x86's pause; "yield" takes no time on most CPUs
#else
  std::this_thread::yield();
#endif
}

/// About 30 microseconds, more than the gaps between the matmuls of a step.
constexpr int kSpins = 1500;

/// Waits until `value` differs from `old`: spins briefly, then sleeps.
void wait_for_change(std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

/// Workers that wait for jobs. There is one job at a time; the caller works on it too.
class WorkerPool {
 public:
  /// Starts fewer workers if the system refuses: threads use memory and count against limits.
  explicit WorkerPool(int workers) {
    try {
      threads_.reserve(to_size(workers));
      for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }
  ~WorkerPool() {
    ending_ = true;
    announce();
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void run(Index count, void (*call)(void*, Index), void* context) {
    call_ = call;
    context_ = context;
    count_ = count;
    // Few enough parts that handing them out is cheap, enough that a late worker finds some left.
    grain_ = std::max<Index>(1, count / (8 * (std::ssize(threads_) + 1)));
    next_.store(0, std::memory_order_relaxed);
    failed_.store(kNone, std::memory_order_relaxed);
    members_.store(kOpen, std::memory_order_release);
    announce();
    inside_task = true;
    run_iterations();
    inside_task = false;
    // Closes the job to further workers and waits for those that joined.
    std::uint32_t members = members_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while (members != 0) {
      wait_for_change(members_, members);
      members = members_.load(std::memory_order_acquire);
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  void announce() {
    jobs_.fetch_add(1, std::memory_order_acq_rel);
    jobs_.notify_all();
  }

  void run_iterations() {
    for (;;) {
      const Index first = next_.fetch_add(grain_, std::memory_order_relaxed);
      const Index last = std::min(first + grain_, count_);
      // Iterations below a failed one still run: a plain loop would have met their errors first.
      for (Index i = first; i < last; ++i) {
        if (i > failed_.load(std::memory_order_relaxed)) return;
        try {
          call_(context_, i);
        } catch (...) {
          fail(i);
          return;
        }
      }
      if (last >= count_) return;
    }
  }

  /// Records the exception of iteration i; called while handling it.
  void fail(Index i) {
    const std::lock_guard lock(failing_);
    if (i >= failed_.load(std::memory_order_relaxed)) return;
    failed_.store(i, std::memory_order_relaxed);
    error_ = std::current_exception();
  }

  /// Joins the open job, if there is one.
  bool join() {
    std::uint32_t members = members_.load(std::memory_order_acquire);
    while ((members & kOpen) != 0) {
      if (members_.compare_exchange_weak(members, members + 1, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

  void work() {
    inside_task = true;
    std::uint32_t seen = 0;
    for (;;) {
      wait_for_change(jobs_, seen);
      if (ending_) return;
      seen = jobs_.load(std::memory_order_acquire);
      if (!join()) continue;
      run_iterations();
      members_.fetch_sub(1, std::memory_order_acq_rel);
      members_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> jobs_{0};  ///< announced so far
  std::atomic<std::uint32_t> members_{
      0};  ///< workers in the job, and a bit that allows more to join
  std::atomic<Index> next_{0};
  std::atomic<Index> failed_{kNone};  ///< the lowest iteration that threw
  std::atomic<bool> ending_{false};
  std::mutex failing_;        ///< held while failed_ and error_ change
  std::exception_ptr error_;  ///< its exception
  void (*call_)(void*, Index) = nullptr;
  void* context_ = nullptr;
  Index count_ = 0;
  Index grain_ = 1;
};

/// Held while the pool is used, created or destroyed.
std::mutex worker_pool_mutex;

std::unique_ptr<WorkerPool>& worker_pool() {
  static std::unique_ptr<WorkerPool> instance;
  return instance;
}

/// After fork(), the child has no workers: the inherited pool is left as it is and the next loop
/// creates another. fork() waits for loops of other threads; a task that forks already holds the
/// lock.
void keep_after_fork() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(
        [] {
          if (!inside_task) worker_pool_mutex.lock();
        },
        [] {
          if (!inside_task) worker_pool_mutex.unlock();
        },
        [] {
          if (inside_task) return;
          static_cast<void>(worker_pool().release());
          worker_pool_mutex.unlock();
        });
  });
}

void run_serially(Index count, void (*run)(void* context, Index i), void* context) {
  for (Index i = 0; i < count; ++i) run(context, i);
}

}  // namespace

void set_threads(int threads) {
  if (inside_task) throw std::logic_error("the number of threads cannot change inside a task");
  const std::lock_guard lock(worker_pool_mutex);
  threads = std::max(1, threads);
  if (threads != thread_count) worker_pool().reset();
  thread_count = threads;
}

int threads() {
  return thread_count;
}

int available_cores() {
  cpu_set_t allowed;  // too short for more than 1,024 CPUs: then all of them count
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool may_use_threads() {
  return thread_count.load(std::memory_order_relaxed) > 1 && !inside_task && !in_serial_scope;
}

SerialScope::SerialScope() : before_(std::exchange(in_serial_scope, true)) {}
SerialScope::~SerialScope() {
  in_serial_scope = before_;
}

void run_on_threads(Index count, void (*run)(void* context, Index i), void* context) {
  if (count < 2 || !may_use_threads()) return run_serially(count, run, context);
  const std::unique_lock lock(worker_pool_mutex, std::try_to_lock);
  if (!lock) return run_serially(count, run, context);
  if (!worker_pool()) {
    keep_after_fork();
    worker_pool() = std::make_unique<WorkerPool>(thread_count - 1);
  }
  worker_pool()->run(count, run, context);
}

}  // namespace attn
