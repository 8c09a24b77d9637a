#include "compute/threads.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace attn {
namespace {

int thread_count = 1;
thread_local bool inside_task = false;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Some 30 microseconds: the gaps between the products of one step are shorter.
constexpr int kSpins = 1500;

/// Waits until `value` is no longer `old`: spins a little, then sleeps.
void wait_for_change(std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

/// Workers that wait for jobs. One job at a time; the caller works on it, too.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    ending_ = true;
    announce();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()); }

  void run(Index count, void (*call)(void*, Index), void* context) {
    call_ = call;
    context_ = context;
    count_ = count;
    // Few enough that handing them out costs nothing, enough that a late worker finds some left.
    grain_ = std::max<Index>(1, count / (8 * (workers() + 1)));
    next_.store(0, std::memory_order_relaxed);
    members_.store(kOpen, std::memory_order_release);
    announce();
    inside_task = true;
    take_turns();
    inside_task = false;
    // Nobody may join any more; who did is waited for.
    std::uint32_t members = members_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while (members != 0) {
      wait_for_change(members_, members);
      members = members_.load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

  void announce() {
    jobs_.fetch_add(1, std::memory_order_acq_rel);
    jobs_.notify_all();
  }

  void take_turns() {
    for (;;) {
      const Index first = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (first >= count_) return;
      const Index last = std::min(first + grain_, count_);
      for (Index i = first; i < last; ++i) call_(context_, i);
    }
  }

  /// Joins the job that is open, if one is.
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
      take_turns();
      members_.fetch_sub(1, std::memory_order_acq_rel);
      members_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> jobs_{0};     ///< announced so far
  std::atomic<std::uint32_t> members_{0};  ///< workers in the job, and whether it takes more
  std::atomic<Index> next_{0};
  std::atomic<bool> ending_{false};
  void (*call_)(void*, Index) = nullptr;
  void* context_ = nullptr;
  Index count_ = 0;
  Index grain_ = 1;
};

std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> instance;
  return instance;
}

}  // namespace

void set_threads(int threads) {
  thread_count = std::max(1, threads);
  omp_set_num_threads(thread_count);  // oneDNN's
  if (pool() && pool()->workers() != thread_count - 1) pool().reset();
}

int threads() {
  return thread_count;
}

int available_cores() {
  return std::max(1, omp_get_num_procs());
}

bool may_use_threads() {
  return thread_count > 1 && !inside_task;
}

void run_on_threads(Index count, void (*run)(void* context, Index i), void* context) {
  if (count < 2 || !may_use_threads()) {
    for (Index i = 0; i < count; ++i) run(context, i);
    return;
  }
  if (!pool()) pool() = std::make_unique<Pool>(thread_count - 1);
  pool()->run(count, run, context);
}

}  // namespace attn
