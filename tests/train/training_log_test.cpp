#include "train/run/training_log.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "base/files/files.h"
#include "check_error.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using test::check_error;
using test::TemporaryDirectory;

TEST_CASE("a log grows line by line") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("train.jsonl");
  AppendOnlyFile log(path, 0);
  CHECK(log.bytes() == 0);
  CHECK(read_file(path).empty());
  log.append("one");
  CHECK(log.bytes() == 4);
  CHECK(read_file(path) == "one\n");  // immediately
  log.append("");
  log.append(std::string(100000, 'x'));
  log.sync();
  CHECK(log.bytes() == 4 + 1 + 100001);
  CHECK(read_file(path) == "one\n\n" + std::string(100000, 'x') + "\n");
}

TEST_CASE("a log is cut back to a checkpoint, also from a half-written line") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("log", "one\ntwo\nthree\nfo");
  {
    AppendOnlyFile log(path, 8);
    CHECK(log.bytes() == 8);
    log.append("3");
  }
  CHECK(read_file(path) == "one\ntwo\n3\n");
  { const AppendOnlyFile log(path, 10); }
  CHECK(read_file(path) == "one\ntwo\n3\n");
  { const AppendOnlyFile log(path, 0); }
  CHECK(read_file(path).empty());
}

TEST_CASE("a log that was changed since the checkpoint is refused and not touched") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("log", "one\ntwo\n");
  check_error(
      [&] { const AppendOnlyFile log(path, 9); }, ExitCode::input,
      path + ": found 8 bytes, expected the end of a line at byte 9: the file has changed since");
  check_error(
      [&] { const AppendOnlyFile log(path, 6); }, ExitCode::input,
      path + ": found 8 bytes and another line there, expected the end of a line at byte 6");
  CHECK(read_file(path) == "one\ntwo\n");
  check_error([&] { const AppendOnlyFile log(directory.file("none"), 1); }, ExitCode::input,
              "/none: found 0 bytes, expected the end of a line at byte 1");
}

TEST_CASE("a full disk is reported, and no half line stays") {
  AppendOnlyFile full("/dev/full", 0);
  check_error([&] { full.append("x"); }, ExitCode::system,
              "/dev/full: cannot write: No space left on device; free some space");
  const TemporaryDirectory directory;
  AppendOnlyFile log(directory.file("log"), 0);
  log.append("whole");
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {100, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  check_error([&] { log.append(std::string(200, 'x')); }, ExitCode::system,
              "/log: cannot write: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(read_file(directory.file("log")) == "whole\n");
  log.append("next");
  CHECK(read_file(directory.file("log")) == "whole\nnext\n");
  CHECK(log.bytes() == 11);
}

TEST_CASE("what the system refuses to open as a log") {
  const TemporaryDirectory directory;
  check_error([&] { const AppendOnlyFile log(directory.file("none/log"), 0); }, ExitCode::system,
              "/none/log: cannot open for writing: No such file or directory; check the path");
  check_error([&] { const AppendOnlyFile log(directory.path(), 0); }, ExitCode::system,
              "cannot open for writing: Is a directory");
}

TEST_CASE("the curve that a log tells") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "train.jsonl",
      R"({"event":"start","config":{"seed":1}})"
      "\n"
      R"({"event":"train","update":50,"loss":8.5,"lr":0.001})"
      "\n"
      R"({"event":"train","update":100,"loss":null})"
      "\n"
      R"({"event":"validation","update":100,"loss":7.25,"bleu":1.5,"chrf":15,"best":true})"
      "\n"
      R"({"event":"early","update":120,"loss":7.2,"nll":6})"
      "\n"
      R"({"update":3})"
      "\n"
      R"({"event":"validation","update":200,"loss":7,"best":false})"
      "\n");
  const TrainingCurve curve = read_curve(path);
  CHECK(curve.title.empty());
  REQUIRE(curve.train.size() == 2);
  CHECK(curve.train[0].update == 50);
  CHECK(curve.train[0].loss == 8.5);
  CHECK(curve.train[1].update == 100);
  CHECK(std::isnan(curve.train[1].loss));
  REQUIRE(curve.validations.size() == 3);
  CHECK(curve.validations[0].update == 100);
  CHECK(curve.validations[0].loss == 7.25);
  CHECK(curve.validations[0].bleu == 1.5);
  CHECK(curve.validations[0].chrf == 15);
  CHECK(curve.validations[1].update == 120);
  CHECK(curve.validations[1].loss == 7.2);
  CHECK(std::isnan(curve.validations[1].bleu));
  CHECK(curve.validations[2].loss == 7);
  CHECK(std::isnan(curve.validations[2].bleu));
  CHECK(curve.best_update == 100);
}

TEST_CASE("logs without a curve, and broken ones") {
  const TemporaryDirectory directory;
  CHECK(read_curve(directory.file("none")).train.empty());
  CHECK_FALSE(read_curve(directory.write("empty", "")).best_update.has_value());
  for (const char* line : {"[]", "1", "", "{\"event\":\"tr", "{} {}", "{\"a\":1,\"a\":1}"}) {
    CAPTURE(line);
    const std::string path = directory.write("log", "{}\n" + std::string(line) + "\n{}\n");
    check_error([&] { read_curve(path); }, ExitCode::input,
                path + ": line 2: found no whole JSON object, expected one on each line");
  }
  for (const char* line : {R"({"event":"train"})", R"({"event":"validation","update":-1})",
                           R"({"event":"train","update":"5"})"}) {
    CAPTURE(line);
    const std::string path = directory.write("log", line);
    check_error([&] { read_curve(path); }, ExitCode::input,
                path + ": line 1: found no whole number as \"update\"");
  }
  check_error([&] { read_curve(directory.path()); }, ExitCode::system, "it is a directory");
}

}  // namespace
}  // namespace attn
