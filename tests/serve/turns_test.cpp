// Who computes when.
#include "serve/turns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>

using namespace attn;
using namespace std::chrono_literals;

namespace {

/// Waits for what another thread does; a test that would wait for ever has failed.
void wait_for(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!what()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
}

/// A request on a thread of its own, whose work goes on until it is let go or stopped.
class Asked {
 public:
  Asked(Turns& turns, const std::string& page = "", std::int64_t number = 0, bool shares = false) {
    job.page = page;
    job.shares = shares;
    job.number = number;
    thread_ = std::thread([&] { taken = turns.run(job, [&] { work(); }); });
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

/// Long enough for a thread to come to where it waits, or to do what it must not.
void give_time() {
  std::this_thread::sleep_for(200ms);
}

}  // namespace

TEST_CASE("as many compute as may, the next one when one is done, in the order they came") {
  Turns turns({2, 0}, 10);
  Asked a(turns), b(turns);
  wait_for([&] { return a.working && b.working; });
  Asked c(turns);
  give_time();
  Asked d(turns);
  give_time();
  CHECK_FALSE(c.working);
  CHECK_FALSE(d.working);
  CHECK_FALSE(turns.idle());
  a.join();
  wait_for([&] { return c.working.load(); });
  CHECK_FALSE(d.working);
  b.join();
  c.join();
  d.join();
  wait_for([&] { return turns.idle(); });
  wait_for([&] { return d.taken == 1; });
}

TEST_CASE("more than may wait are sent away, and nothing is done for them") {
  Turns turns({1, 0}, 1);
  Asked running(turns);
  wait_for([&] { return running.working.load(); });
  Asked waiting(turns);
  give_time();
  Job job;
  bool worked = false;
  CHECK_FALSE(turns.run(job, [&] { worked = true; }));
  CHECK_FALSE(worked);
  running.let_go = true;
}

TEST_CASE("a newer request of a page stops its older ones, whether they wait or compute") {
  Turns turns({1, 0}, 10);
  Asked computing(turns, "one");
  wait_for([&] { return computing.working.load(); });
  // The other page comes before the second of the first page, which stops the one that computes.
  Asked other(turns, "two");
  give_time();
  Asked waiting(turns, "one"), nameless(turns);
  give_time();
  Asked newest(turns, "one");
  wait_for([&] { return computing.finished && waiting.finished; });
  CHECK(computing.job.reason == StopReason::superseded);
  CHECK(waiting.job.reason == StopReason::superseded);
  CHECK(waiting.worker != computing.worker);  // it did its work itself, and took no turn
  CHECK_FALSE(waiting.job.begun);
  for (Asked* one : {&other, &nameless, &newest}) one->let_go = true;
  for (Asked* one : {&other, &nameless, &newest}) one->join();
  for (const Asked* one : {&other, &nameless, &newest}) {
    CHECK(one->job.reason == StopReason::none);
    CHECK(one->job.begun);
  }
}

TEST_CASE("an older request of a page that comes later is the one that is stopped") {
  Turns turns({1, 0}, 10);
  Asked newer(turns, "one", 8);
  wait_for([&] { return newer.working.load(); });
  Asked older(turns, "one", 7);
  wait_for([&] { return older.finished.load(); });
  CHECK(older.job.reason == StopReason::superseded);
  CHECK_FALSE(newer.job.stop);
  Asked other(turns, "two", 1), newest(turns, "one", 9);
  wait_for([&] { return newer.finished.load(); });
  CHECK(newer.job.reason == StopReason::superseded);
  other.let_go = newest.let_go = true;  // whichever has its turn first
  other.join();
  newest.join();
  CHECK(newest.job.reason == StopReason::none);
}

TEST_CASE("requests are stopped for a reason, and the first one counts") {
  Turns turns({1, 0}, 10);
  Asked computing(turns);
  wait_for([&] { return computing.working.load(); });
  Asked waiting(turns, "later");
  give_time();
  turns.stop_where(
      [](const Job& job) { return job.page == "later" ? StopReason::late : StopReason::none; });
  wait_for([&] { return waiting.finished.load(); });
  CHECK(waiting.job.reason == StopReason::late);
  CHECK_FALSE(computing.job.stop);
  turns.stop_where([](const Job&) { return StopReason::ending; });
  wait_for([&] { return computing.finished.load(); });
  CHECK(computing.job.reason == StopReason::ending);
  computing.job.end(StopReason::gone);
  CHECK(computing.job.reason == StopReason::ending);
}

TEST_CASE("a request's time begins anew with its turn") {
  Turns turns({1, 0}, 10);
  Asked computing(turns);
  wait_for([&] { return computing.working.load(); });
  Asked waiting(turns);
  const auto came = waiting.job.since;
  give_time();
  computing.join();
  wait_for([&] { return waiting.working.load(); });
  CHECK(waiting.job.since - came >= 20ms);
}

TEST_CASE("jobs that share have turns of their own, and are stopped by the others of their page") {
  Turns turns({1, 2}, 10);
  Asked record(turns), second(turns);
  wait_for([&] { return record.working || second.working; });
  Asked shared(turns, "one", 1, true), other(turns, "", 0, true);
  wait_for([&] { return shared.working && other.working; });
  Asked third(turns, "", 0, true);
  give_time();
  CHECK_FALSE(third.working);
  CHECK(record.working != second.working);
  Asked newer(turns, "one", 2);
  wait_for([&] { return shared.finished && third.working; });
  CHECK(shared.job.reason == StopReason::superseded);
  for (Asked* one : {&record, &second, &other, &third, &newer}) one->let_go = true;
  for (Asked* one : {&record, &second, &other, &third, &newer}) one->join();
}
