// Tests which requests compute, and when.
#include "serve/worker_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>

using namespace attn;
using namespace std::chrono_literals;

namespace {

/// Waits for another thread's action; fails the test instead of waiting forever.
void wait_for(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!what()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
}

/// A request on a thread of its own, whose work continues until it is released or stopped.
class Asked {
 public:
  Asked(WorkerPool& workers, const std::string& page = "", std::int64_t number = 0,
        bool batched = false) {
    job.page_id = page;
    job.batched = batched;
    job.sequence = number;
    thread_ = std::thread([&] { taken = workers.run(job, [&] { work(); }); });
  }
  ~Asked() {
    let_go = true;
    thread_.join();
  }
  void join() {
    let_go = true;
    wait_for([&] { return finished.load(); });
  }

  Job job;
  std::atomic<bool> working{false}, let_go{false}, finished{false};
  std::atomic<int> taken{-1};
  std::thread::id worker;

 private:
  void work() {
    worker = std::this_thread::get_id();
    working = true;
    wait_for([&] { return let_go.load() || job.stop.load(); });
    working = false;
    finished = true;
  }
  std::thread thread_;
};

/// Waits long enough for a thread to reach its waiting point, or to do something wrong.
void give_time() {
  std::this_thread::sleep_for(200ms);
}

}  // namespace

TEST_CASE("as many compute as may, the next one when one is done, in the order they came") {
  WorkerPool workers({2, 0}, 10);
  Asked a(workers), b(workers);
  wait_for([&] { return a.working && b.working; });
  Asked c(workers);
  give_time();
  Asked d(workers);
  give_time();
  CHECK_FALSE(c.working);
  CHECK_FALSE(d.working);
  CHECK_FALSE(workers.idle());
  a.join();
  wait_for([&] { return c.working.load(); });
  CHECK_FALSE(d.working);
  b.join();
  c.join();
  d.join();
  wait_for([&] { return workers.idle(); });
  wait_for([&] { return d.taken == 1; });
}

TEST_CASE("more than may wait are sent away, and nothing is done for them") {
  WorkerPool workers({1, 0}, 1);
  Asked running(workers);
  wait_for([&] { return running.working.load(); });
  Asked waiting(workers);
  give_time();
  Job job;
  bool worked = false;
  CHECK_FALSE(workers.run(job, [&] { worked = true; }));
  CHECK_FALSE(worked);
  running.let_go = true;
}

TEST_CASE("a newer request of a page stops its older ones, whether they wait or compute") {
  WorkerPool workers({1, 0}, 10);
  Asked computing(workers, "one");
  wait_for([&] { return computing.working.load(); });
  // The other page's request arrives before the first page's second one, which stops the one that
  // is computing.
  Asked other(workers, "two");
  give_time();
  Asked waiting(workers, "one"), nameless(workers);
  give_time();
  Asked newest(workers, "one");
  wait_for([&] { return computing.finished && waiting.finished; });
  CHECK(computing.job.reason == StopReason::superseded);
  CHECK(waiting.job.reason == StopReason::superseded);
  CHECK(waiting.worker != computing.worker);  // it did its own work without waiting for a worker
  CHECK_FALSE(waiting.job.started);
  for (Asked* one : {&other, &nameless, &newest}) one->let_go = true;
  for (Asked* one : {&other, &nameless, &newest}) one->join();
  for (const Asked* one : {&other, &nameless, &newest}) {
    CHECK(one->job.reason == StopReason::none);
    CHECK(one->job.started);
  }
}

TEST_CASE("an older request of a page that comes later is the one that is stopped") {
  WorkerPool workers({1, 0}, 10);
  Asked newer(workers, "one", 8);
  wait_for([&] { return newer.working.load(); });
  Asked older(workers, "one", 7);
  wait_for([&] { return older.finished.load(); });
  CHECK(older.job.reason == StopReason::superseded);
  CHECK_FALSE(newer.job.stop);
  Asked other(workers, "two", 1), newest(workers, "one", 9);
  wait_for([&] { return newer.finished.load(); });
  CHECK(newer.job.reason == StopReason::superseded);
  other.let_go = newest.let_go = true;  // whichever is first
  other.join();
  newest.join();
  CHECK(newest.job.reason == StopReason::none);
}

TEST_CASE("requests are stopped for a reason, and the first one counts") {
  WorkerPool workers({1, 0}, 10);
  Asked computing(workers);
  wait_for([&] { return computing.working.load(); });
  Asked waiting(workers, "later");
  give_time();
  workers.stop_if([](const Job& job) {
    return job.page_id == "later" ? StopReason::timed_out : StopReason::none;
  });
  wait_for([&] { return waiting.finished.load(); });
  CHECK(waiting.job.reason == StopReason::timed_out);
  CHECK_FALSE(computing.job.stop);
  workers.stop_if([](const Job&) { return StopReason::shutting_down; });
  wait_for([&] { return computing.finished.load(); });
  CHECK(computing.job.reason == StopReason::shutting_down);
  computing.job.end(StopReason::disconnected);
  CHECK(computing.job.reason == StopReason::shutting_down);
}

TEST_CASE("a request's time begins anew with its turn") {
  WorkerPool workers({1, 0}, 10);
  Asked computing(workers);
  wait_for([&] { return computing.working.load(); });
  Asked waiting(workers);
  const auto came = waiting.job.since;
  give_time();
  computing.join();
  wait_for([&] { return waiting.working.load(); });
  CHECK(waiting.job.since - came >= 20ms);
}

TEST_CASE("jobs that share have turns of their own, and are stopped by the others of their page") {
  WorkerPool workers({1, 2}, 10);
  Asked record(workers), second(workers);
  wait_for([&] { return record.working || second.working; });
  Asked shared(workers, "one", 1, true), other(workers, "", 0, true);
  wait_for([&] { return shared.working && other.working; });
  Asked third(workers, "", 0, true);
  give_time();
  CHECK_FALSE(third.working);
  CHECK(record.working != second.working);
  Asked newer(workers, "one", 2);
  wait_for([&] { return shared.finished && third.working; });
  CHECK(shared.job.reason == StopReason::superseded);
  for (Asked* one : {&record, &second, &other, &third, &newer}) one->let_go = true;
  for (Asked* one : {&record, &second, &other, &third, &newer}) one->join();
}
