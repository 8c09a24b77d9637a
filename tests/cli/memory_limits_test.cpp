// Tests that under any limit on memory or on the stack, a run succeeds or exits with one line and
// code 5.
#include <doctest/doctest.h>

#ifndef ATTN_ASAN  // ASan reserves the whole address space, and needs larger stacks
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

const std::string kFailingMalloc = ATTN_BUILD_DIR "/tests/libfailing_malloc.so";

std::string shipped(const std::string& path) {
  return std::string(ATTN_SOURCE_DIR) + "/" + path;
}

/// Returns all commands that need memory, writing into `scene`.
std::vector<std::vector<std::string>> commands(const TemporaryDirectory& scene) {
  const std::string sentence = "The group went home";
  const std::string toy = shipped("data/toy/");
  return {
      {"translate", "--threads", "1", "--json", scene.file("o.json"), sentence},
      {"translate", "--threads", "1", "--png", scene.file("o.png"), sentence},
      {"explain", sentence},
      {"evaluate", "--threads", "1", "--source", scene.file("en"), "--target", scene.file("de")},
      {"init", "--config", demo_config(), "--out", scene.file("init")},
      {"convert", "--model", shipped("data/models/en-de"), "--out", scene.file("convert")},
      {"inspect"},
      {"tokenizer", "--source", toy + "train.en", "--target", toy + "train.de", "--vocab-size",
       "200", "--out", scene.file("tokenizer")},
      {"train", shipped("configs/toy.json"), "--threads", "1", "--out", scene.file("train"),
       "--set", "train.updates=2"},
  };
}

}  // namespace

TEST_CASE("under ulimit -v a command ends in its result or in exit 5") {
  for (const rlim_t megabytes : {100U, 120U, 140U, 170U, 210U, 300U, 450U}) {
    const TemporaryDirectory scene;
    std::ofstream(scene.file("en")) << "The group went home\n";
    std::ofstream(scene.file("de")) << "Die Gruppe ging nach Hause\n";
    for (const std::vector<std::string>& args : commands(scene)) {
      CAPTURE(megabytes);
      CAPTURE(args);
      const Result result = run_program({.args = args, .in_child = [megabytes] {
                                           const rlimit limit{megabytes << 20, megabytes << 20};
                                           setrlimit(RLIMIT_AS, &limit);
                                         }});
      // Below about 85 MB, the system's loader fails before the program starts.
      CHECK_MESSAGE((result.code == 0 || result.code == 5), result.err);
      if (result.code == 5) CHECK_MESSAGE(result.err.ends_with("\n"), result.err);
    }
  }
}

TEST_CASE("a small stack is enough for everything, pictures too") {
  const TemporaryDirectory scene;
  for (const rlim_t kilobytes : {256U, 64U, 32U}) {
    CAPTURE(kilobytes);
    const Result result =
        run_program({.args = {"translate", "--threads", "2", "--png", scene.file("o.png"), "--html",
                              scene.file("o.html"), "The group went home"},
                     .in_child = [kilobytes] {
                       const rlimit limit{kilobytes << 10, kilobytes << 10};
                       setrlimit(RLIMIT_STACK, &limit);
                     }});
    CHECK_MESSAGE(result.code == 0, result.err);
  }
}

/// Runs with a library that makes one allocation fail; none if `allocation` is 0.
Result run_failing(const std::vector<std::string>& args, int allocation,
                   std::vector<std::pair<std::string, std::string>> more) {
  more.emplace_back("LD_PRELOAD", kFailingMalloc);
  more.emplace_back("ATTN_FAIL_MALLOC", std::to_string(allocation));
  return run_program({.args = args, .environment = std::move(more)});
}

constexpr const char* kNoMemory =
    "attn-demo: out of memory; choose a smaller model, --batch or --beam\n";

TEST_CASE("memory that runs out on one of several threads is exit 5, as on the first") {
  if (!std::filesystem::exists(kFailingMalloc)) return;  // not built in every configuration
  std::vector<std::string> args{"translate", "--threads", "2"};
  args.resize(args.size() + 12, "The group went home");
  int failed = 0;
  for (int allocation = 1; allocation <= 48; ++allocation) {
    CAPTURE(allocation);
    const Result result = run_failing(args, allocation, {{"ATTN_FAIL_THREADS", "others"}});
    if (result.code == 0) continue;  // the first thread did all the work
    CHECK(result.code == 5);
    CHECK(result.err == kNoMemory);
    ++failed;
  }
  CHECK(failed > 0);
}

TEST_CASE("memory that runs out while scores become JSON is exit 5") {
  if (!std::filesystem::exists(kFailingMalloc)) return;
  const TemporaryDirectory scene;
  for (const char* name : {"found", "expected"}) std::ofstream(scene.file(name)) << "Er ging\n";
  const std::vector<std::string> args{
      "evaluate", "--hypotheses",      scene.file("found"), "--target", scene.file("expected"),
      "--json",   scene.file("o.json")};
  const std::string report = scene.file("report");
  REQUIRE(run_failing(args, 0, {{"ATTN_FAULT_REPORT", report}}).code == 0);
  std::filesystem::remove(scene.file("o.json"));
  int count = 0;
  std::ifstream(report) >> count;
  REQUIRE(count > 400);
  int failed = 0;
  for (int allocation = count - 250; allocation <= count; ++allocation) {
    CAPTURE(allocation);
    const Result result = run_failing(args, allocation, {});
    if (result.code == 0) continue;
    CHECK(result.code == 5);
    CHECK(result.err == kNoMemory);
    ++failed;
  }
  CHECK(failed > 150);
}

}  // namespace attn::test
#endif
