#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "check_error.h"
#include "temporary_directory.h"
#include "train/run/run_ownership.h"

namespace attn {
namespace {

using test::check_error;
using test::TemporaryDirectory;

/// True if another process gets the lock.
bool another_gets(const std::string& directory) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      const RunLock lock(directory);
    } catch (const SystemError&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 0;
}

TEST_CASE("one run a folder") {
  const TemporaryDirectory directory;
  {
    const RunLock lock(directory.path());
    CHECK_FALSE(another_gets(directory.path()));
    check_error([&] { const RunLock second(directory.path()); }, ExitCode::system,
                directory.path() + ": another training run is writing here; wait until it ends");
    CHECK_FALSE(another_gets(directory.path()));  // the refused one did not unlock it
  }
  CHECK(another_gets(directory.path()));
  const RunLock again(directory.path());
}

TEST_CASE("a killed run's lock goes with it") {
  const TemporaryDirectory directory;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // is killed with this process if a check fails
    const RunLock lock(directory.path());
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  check_error([&] { const RunLock lock(directory.path()); }, ExitCode::system, "another training");
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  const RunLock lock(directory.path());
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("the marks of a run") {
  const TemporaryDirectory directory;
  CHECK_FALSE(contains_training_run(directory.path()));
  directory.write("lock", "");
  CHECK_FALSE(contains_training_run(directory.path()));
  CHECK_FALSE(is_foreign_lock(directory.path()));
  { const RunLock lock(directory.path()); }
  CHECK(contains_training_run(directory.path()));
  CHECK_FALSE(is_foreign_lock(directory.path()));
  directory.write("lock", "4711\n");
  CHECK_FALSE(contains_training_run(directory.path()));
  CHECK(is_foreign_lock(directory.path()));
  std::filesystem::create_directory(directory.file("checkpoints"));
  directory.write("checkpoints/checkpoint-000000001", "somebody else's");
  CHECK_FALSE(contains_training_run(directory.path()));
  directory.write("checkpoints/checkpoint-000000002", "attn-demo checkpoint 1\n");
  CHECK(contains_training_run(directory.path()));
}

TEST_CASE("a lock in a folder that is missing") {
  const TemporaryDirectory directory;
  check_error([&] { const RunLock lock(directory.file("none")); }, ExitCode::system,
              "/none/lock: cannot open: No such file or directory; check the path");
}

}  // namespace
}  // namespace attn
