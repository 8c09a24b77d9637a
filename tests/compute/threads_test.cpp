// Tests loops on several threads: every iteration runs once, even with exceptions, nested or
// concurrent loops, and without threads.
#include "compute/threads.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/at.h"

using namespace attn;

namespace {

constexpr Index kMuch = Index{1} << 40;  // enough work for several threads

/// Sets the number of threads, and restores it at the end.
struct Threads {
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(1); }
};

/// True if a loop of `count` iterations runs each of them once.
bool each_once(Index count) {
  std::vector<std::atomic<int>> turns(to_size(count));
  parallel_for(count, kMuch, [&](Index i) { ++at(turns, i); });
  for (const std::atomic<int>& n : turns) {
    if (n != 1) return false;
  }
  return true;
}

/// Returns the message of the exception that a loop throws, or "nothing".
template <typename F>
std::string thrown_by(Index count, F&& f) {
  try {
    parallel_for(count, kMuch, [&](Index i) { f(i); });
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

}  // namespace

TEST_CASE("every turn runs once, on any number of threads") {
  for (const int count : {1, 2, 3, 8, 2}) {
    const Threads threads(count);
    CHECK(attn::threads() == count);
    for (const Index turns : {0, 1, 2, 3, 7, 64, 1000, 300'000}) CHECK(each_once(turns));
  }
  set_threads(-3);
  CHECK(threads() == 1);
  CHECK(each_once(5));
}

TEST_CASE("what a turn throws reaches the caller, and the threads go on serving") {
  for (const int count : {1, 2, 3}) {
    const Threads threads(count);
    for (int again = 0; again < 50; ++again) {
      const auto at_7 = [](Index i) {
        if (i == 7) throw std::runtime_error("turn 7");
      };
      CHECK(thrown_by(100, at_7) == "turn 7");
      CHECK(each_once(100));
    }
  }
}

TEST_CASE("of several exceptions the caller gets the one that a plain loop would have met") {
  for (const int count : {1, 2, 4}) {
    const Threads threads(count);
    for (int again = 0; again < 50; ++again) {
      const auto from_5 = [](Index i) {
        if (i == 5) std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (i >= 5) throw std::runtime_error("turn " + std::to_string(i));
      };
      CHECK(thrown_by(3000, from_5) == "turn 5");
    }
  }
}

TEST_CASE("turns of the caller and turns of a worker may throw") {
  const Threads threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (const bool caller_throws : {true, false}) {
    std::atomic<bool> thrown = false;
    const auto turn = [&](Index) {
      if ((std::this_thread::get_id() == caller) == caller_throws) {
        thrown = true;
        throw std::runtime_error(caller_throws ? "the caller's" : "a worker's");
      }
      wait_until(
          thrown);  // prevents one loop from running all iterations before the other has started
    };
    CHECK(thrown_by(1000, turn) == (caller_throws ? "the caller's" : "a worker's"));
  }
  CHECK(each_once(1000));
}

TEST_CASE("an exception ends a loop that would never come to its end") {
  const Threads threads(3);
  const auto at_100 = [](Index i) {
    if (i == 100) throw std::runtime_error("turn 100");
  };
  CHECK(thrown_by(Index{1} << 62, at_100) == "turn 100");
}

TEST_CASE("a loop inside of a turn runs where it is") {
  const Threads threads(3);
  std::atomic<Index> sum = 0;
  std::atomic<bool> alone = true;
  parallel_for(20, kMuch, [&](Index i) {
    if (may_use_threads()) alone = false;
    const std::thread::id here = std::this_thread::get_id();
    parallel_for(30, kMuch, [&](Index j) {
      if (std::this_thread::get_id() != here) alone = false;
      sum += i * 30 + j;
    });
  });
  CHECK(alone);
  CHECK(sum == 600 * 599 / 2);
  CHECK(may_use_threads());

  const auto nested = [](Index i) {
    parallel_for(4, kMuch, [&](Index j) {
      if (i == 2 && j == 3) throw std::runtime_error("turn 3 of turn 2");
    });
  };
  CHECK(thrown_by(10, nested) == "turn 3 of turn 2");
  CHECK(thrown_by(10, [](Index) { set_threads(2); }) ==
        "the number of threads cannot change inside a task");
  CHECK(attn::threads() == 3);
}

TEST_CASE("several threads of the process may run loops and change their number") {
  const Threads threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int again = 0; again < 60; ++again) {
        if (!each_once(200)) ++wrong;
        const Index bad = 10 * caller;
        const auto fails = [bad](Index i) {
          if (i == bad) throw std::runtime_error("turn " + std::to_string(i));
        };
        if (thrown_by(64, fails) != "turn " + std::to_string(bad)) ++wrong;
        if (caller == 3) set_threads(2 + again % 3);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("other work on the cores delays a loop and changes nothing") {
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 2 * available_cores(); ++i) {
    others.emplace_back([&enough] {
      while (!enough) {
      }
    });
  }
  {
    const Threads threads(3);
    for (int again = 0; again < 5; ++again) CHECK(each_once(1000));
  }
  enough = true;
  for (std::thread& other : others) other.join();
}

// Sanitizers reserve address space of their own, and the thread sanitizer cannot start threads
// after fork(). Neither can qemu-user.
#if !defined(ATTN_ASAN) && !defined(ATTN_TSAN) && !defined(ATTN_EMULATED)
TEST_CASE("a child of fork makes workers of its own, and its parent keeps its") {
  const Threads threads(3);
  REQUIRE(each_once(1000));
  std::atomic<bool> enough = false;
  std::thread other([&enough] {  // a loop that is running at the same time
    while (!enough) each_once(1000);
  });
  for (int again = 0; again < 20; ++again) {
    const pid_t child = fork();
    if (child == 0) {
      const bool right = each_once(1000);
      set_threads(2);
      _exit(right && each_once(1000) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(each_once(1000));
  }
  enough = true;
  other.join();
}

TEST_CASE("where the system starts fewer threads, loops run on those") {
  set_threads(1);
  const pid_t child = fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t room = 20 << 20;  // not enough for two stacks of 8 MB
    const rlim_t most = pages * to_size(sysconf(_SC_PAGESIZE)) + room;
    const rlimit limit{most, most};
    bool right = setrlimit(RLIMIT_AS, &limit) == 0;
    set_threads(64);
    for (int again = 0; again < 3; ++again) right = right && each_once(1000);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
