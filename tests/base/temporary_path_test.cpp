#include "base/files/temporary_path.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/files/files.h"
#include "check_error.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using Kind = TemporaryPath::Kind;
using test::check_error;
using test::TemporaryDirectory;

TEST_CASE("what a dead process left goes when the name is wanted again") {
  const TemporaryDirectory directory;
  for (const Kind kind : {Kind::file, Kind::tree}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto made = TemporaryPath::make_beside(kind, directory.file("a"), 0700);
      if (kind == Kind::tree) write_file(made->path() + "/inside", "half");
      raise(SIGKILL);
    }
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(directory.entries() == 1);
    const auto made = TemporaryPath::make_beside(kind, directory.file("a"), 0700);
    REQUIRE(made);
    CHECK(made->path() == directory.file("a.attn-demo-tmp-0"));
    CHECK(directory.entries() == 1);
    if (kind == Kind::tree) CHECK(std::filesystem::is_empty(made->path()));
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("what a living process writes stays") {
  const TemporaryDirectory directory;
  auto first = TemporaryPath::make_beside(Kind::file, directory.file("a"), 0600);
  const auto second = TemporaryPath::make_beside(Kind::file, directory.file("a"), 0600);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(second->path() == directory.file("a.attn-demo-tmp-1"));
  CHECK_FALSE(remove_abandoned(first->path()));
  CHECK(directory.entries() == 2);
}

TEST_CASE("what is not ours stays") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("elsewhere"));
  directory.write("elsewhere/mine", "mine");
  std::filesystem::create_directory_symlink("elsewhere", directory.file("a.attn-demo-tmp-0"));
  REQUIRE(mkfifo(directory.file("a.attn-demo-tmp-1").c_str(), 0600) == 0);
  std::string expected = directory.file("a.attn-demo-tmp-2");
  if (geteuid() == 0) {
    REQUIRE(chown(directory.write("a.attn-demo-tmp-2", "").c_str(), 1234, 2345) == 0);
    expected = directory.file("a.attn-demo-tmp-3");
  }
  const auto made = TemporaryPath::make_beside(Kind::tree, directory.file("a"), 0700);
  REQUIRE(made);
  CHECK(made->path() == expected);
  CHECK(read_file(directory.file("elsewhere/mine")) == "mine");
}

TEST_CASE("names that are ours") {
  CHECK(target_of_temporary("curve.svg.attn-demo-tmp-0") == "curve.svg");
  CHECK(target_of_temporary("a.attn-demo-tmp-1.attn-demo-tmp-99") == "a.attn-demo-tmp-1");
  for (const char* name :
       {"", "curve.svg", "a.attn-demo-tmp", "a.attn-demo-tmp-", "a.attn-demo-tmp-x",
        "a.attn-demo-tmp-100", "a.attn-demo-tmp-1.svg", ".attn-demo-tmp-1", "a.tmp-1-1"}) {
    CAPTURE(name);
    CHECK(target_of_temporary(name).empty());
  }
}

TEST_CASE("new folders go again unless they are kept") {
  const TemporaryDirectory directory;
  { const NewDirectories made(directory.file("a/b/c/")); }
  CHECK(directory.entries() == 0);
  {
    NewDirectories made(directory.file("a/b/c"));
    CHECK(directory_exists(directory.file("a/b/c")));
    made.keep();
  }
  CHECK(directory_exists(directory.file("a/b/c")));
  { const NewDirectories there(directory.file("a/b/d")); }
  CHECK(directory_exists(directory.file("a/b")));
  CHECK_FALSE(directory_exists(directory.file("a/b/d")));
  const std::string file = directory.write("file", "");
  check_error([&] { const NewDirectories made(file + "/x"); }, ExitCode::system,
              file + "/x: cannot make the directory: Not a directory; check the path");
  check_error([&] { const NewDirectories made(file); }, ExitCode::system,
              file + ": cannot make the directory: Not a directory; check the path");
}

TEST_CASE("a signal takes files, trees and empty folders") {
  const TemporaryDirectory directory;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const NewDirectories folders(directory.file("a/b"));
    const auto tree = TemporaryPath::make_beside(Kind::tree, directory.file("a/b/t"), 0700);
    write_file(tree->path() + "/one", "1");
    write_file(tree->path() + "/two", "2");
    const AtomicFile file(directory.file("a/b/f"));
    std::signal(SIGUSR1, [](int) {
      stop_making_files();
      remove_unfinished_files();
      _exit(7);
    });
    raise(SIGUSR1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(directory.entries() == 0);
}

}  // namespace
}  // namespace attn
