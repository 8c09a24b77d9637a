// Tests train with signals, closed terminals, and a stderr that is not read.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/at.h"
#include "terminal.h"
#include "train_run.h"

namespace attn::test {
namespace {

/// Checks that a run with `in_child` ends well and produces the same files as an undisturbed one.
void check_goes_on(const std::function<void()>& in_child) {
  const TrainScene scene;
  Request request = scene.request("disturbed");
  request.in_child = in_child;
  const Result result = run_program(request);
  CHECK_MESSAGE(result.code == kDone, result.err);
  scene.must_train("whole");
  check_same_run(scene.file("whole"), scene.file("disturbed"));
}

}  // namespace

TEST_CASE("a second signal ends training at once") {
  TrainScene scene;  // makes updates slow: a larger corpus in small batches
  for (const std::string side : {"train.en", "train.de"}) {
    const std::string text = bytes_of(scene.file(side));
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += text;
    scene.directory.write(side, lines);
  }
  scene.config["train"].update(
      {{"accumulate", 1000000}, {"checkpoint_every", 1000}, {"validate_every", 1000}});
  // On a busy machine an update may end between the two signals; then only the first one is seen.
  bool at_once = false;
  for (int attempt = 0; attempt < 5 && !at_once; ++attempt) {
    const std::string run = "run" + std::to_string(attempt);
    Program program(scene.request(run, {"--threads", "1"}));
    REQUIRE(program.wait_for_error("update 1/"));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    program.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    program.signal(SIGINT);
    const Result result = program.finish();
    CHECK(result.code == 130);
    at_once = checkpoints_of(scene.file(run)).empty();  // after a single signal there would be one
    CHECK((result.err.find("--resume goes on") == std::string::npos) == at_once);
  }
  CHECK(at_once);
}

TEST_CASE("a signal in the middle of a validation: the resumed run makes it again, once") {
  TrainScene scene;
  scene.config["train"]["validate_every"] = 1;
  scene.validate_long();
  const Result result = interrupt(scene, "run", "update 1/", SIGINT);
  CHECK(result.code == 130);
  CHECK(checkpoints_of(scene.file("run")) == std::vector<std::uint64_t>{1});
  CHECK(log_of(scene.file("run")).size() == 3);  // an early validation, an update and the end
  scene.must_train("run", {"--resume", "--set", updates(1)});
  const std::vector<Json> log = log_of(scene.file("run"));
  REQUIRE(log.size() == 4);
  CHECK(log[2]["event"] == "validation");
  CHECK(log[2]["update"] == 1);
  CHECK(log_of(scene.file("run"), "probe.jsonl").size() == 2);
}

TEST_CASE("a signal before training begins leaves nothing that a new run would refuse") {
  TrainScene scene;  // a tokenizer that takes some time to train
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "w" + std::to_string(i * 7919) + " went home\n";
  scene.directory.write("train.en", lines);
  scene.directory.write("train.de", lines);
  scene.config["tokenizer"] = {{"type", "bpe"}, {"vocab_size", 2000}};
  scene.config["train"]["updates"] = 1;
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program(scene.request("run"));
    REQUIRE(program.wait_for_error("training a bpe tokenizer"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    program.signal(signal);
    CHECK(program.finish().code == 128 + signal);
    for (const std::string& name : listing(scene.file("run"))) {
      CHECK_MESSAGE(name == "lock", name);
    }
  }
}

TEST_CASE("SIGHUP ends no training") {
  const TrainScene scene;
  Program program(scene.request("run", {"--set", updates(200)}));
  REQUIRE(program.wait_for_error("sentence pairs to train on"));
  for (int i = 0; i < 3; ++i) program.signal(SIGHUP);
  const Result result = program.finish();
  CHECK_MESSAGE(result.code == kDone, result.err);
  CHECK(checkpoints_of(scene.file("run")).back() == 200);
}

TEST_CASE("a terminal that is closed ends no training") {
  const TrainScene scene;
  Terminal terminal;
  Request request = scene.request("run", {"--set", updates(200)});
  request.environment = {{"TERM", "xterm"}};
  request.in_child = [&terminal] { terminal.become_controlling(); };
  Program program(request);
  REQUIRE(terminal.wait_for("update "));
  terminal.close();
  const Result result = program.finish();
  CHECK(result.code == kDone);
  CHECK(checkpoints_of(scene.file("run")).back() == 200);
}

TEST_CASE("with stderr closed, full or without a reader training goes on, and no file suffers") {
  check_goes_on([] { close(2); });
  check_goes_on([] {
    close(0);
    close(1);
    close(2);
  });
  check_goes_on([] {
    const int full = open("/dev/full", O_WRONLY);
    dup2(full, 2);
    close(full);
  });
  check_goes_on([] {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) _exit(126);
    close(ends[0]);
    dup2(ends[1], 2);
    close(ends[1]);
  });
}

}  // namespace attn::test
