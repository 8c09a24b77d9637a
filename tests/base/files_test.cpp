#include "base/files/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include "base/at.h"
#include "check_error.h"
#include "temporary_directory.h"

namespace attn {
namespace {

using test::check_error;
using test::TemporaryDirectory;

TEST_CASE("a file is read whole, up to the bound") {
  const TemporaryDirectory directory;
  const std::string bytes = std::string("a\0b\n", 4) + std::string(100000, 'x');
  const std::string path = directory.write("a", bytes);
  CHECK(read_file(path) == bytes);
  CHECK(read_file(path, bytes.size()) == bytes);
  check_error([&] { read_file(path, bytes.size() - 1); }, ExitCode::input,
              "/a: the file is larger than 100.0 kB, the limit");
  CHECK(read_file(directory.write("empty", "")).empty());
  CHECK(read_file(directory.write("one", "1"), 1) == "1");
  CHECK(read_file("/dev/null").empty());
  CHECK(read_file("/proc/self/status").find("Name:") == 0);  // reports a size of 0
}

TEST_CASE("what has no size is read up to the bound") {
  check_error([] { read_file("/dev/zero", 5000); }, ExitCode::input,
              "/dev/zero: the file is larger than 5.0 kB, the limit");
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string bytes(200000, 'y');
  std::thread writer([&] { write_file(pipe, bytes); });  // a pipe is written directly
  const std::string got = read_file(pipe);
  writer.join();
  CHECK(got == bytes);
  CHECK(directory.entries() == 1);
}

TEST_CASE("what the system refuses to read") {
  const TemporaryDirectory directory;
  const std::string none = directory.file("none");
  check_error([&] { read_file(none); }, ExitCode::system,
              none + ": cannot open: No such file or directory; check the path");
  check_error([&] { MappedFile map(none); }, ExitCode::system, none + ": cannot open: No such");
  check_error([&] { read_file(directory.path()); }, ExitCode::system,
              directory.path() + ": cannot read: it is a directory, expected a file");
  check_error([&] { MappedFile map(directory.path()); }, ExitCode::system, "it is a directory");
  check_error([] { MappedFile map("/dev/null"); }, ExitCode::system, "it is not a regular file");
  check_error([&] { read_file(directory.write("f", "") + "/below"); }, ExitCode::system,
              "Not a directory");
  check_error([] { read_file(""); }, ExitCode::system, "(empty path): cannot open");
  check_error([] { read_file("no\nne\x1b"); }, ExitCode::system, "no\\u{a}ne\\u{1b}: cannot open");
  check_error([&] { read_file(directory.write("g", "") + std::string("\0x", 2)); },
              ExitCode::system, "Invalid argument");
  if (geteuid() != 0) {  // root may read everything
    const std::string secret = directory.write("secret", "x");
    chmod(secret.c_str(), 0);
    check_error([&] { read_file(secret); }, ExitCode::system, "Permission denied; check the perm");
  }
}

TEST_CASE("what exists") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "");
  CHECK(file_exists(path));
  CHECK_FALSE(file_exists(directory.path()));
  CHECK_FALSE(file_exists(directory.file("none")));
  CHECK(directory_exists(directory.path()));
  CHECK_FALSE(directory_exists(path));
  CHECK_FALSE(directory_exists(directory.file("none")));
}

TEST_CASE("what is released of a map comes from the file again, whole pages of it") {
  const TemporaryDirectory directory;
  const auto page = to_size(sysconf(_SC_PAGESIZE));
  const std::string bytes(3 * page + 100, 'm');
  const MappedFile map(directory.write("a", bytes));
  // A write would be lost with its page, which shows which pages were released.
  const auto write_and_release = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < map.size(); i += page) map.data()[i] = std::byte{'!'};
    map.release({map.data() + first, count});
    std::string left;
    for (std::size_t i = 0; i < map.size(); i += page) {
      left.push_back(std::to_integer<char>(map.data()[i]));
    }
    return left;
  };
  CHECK(write_and_release(0, page) == "m!!!");
  CHECK(write_and_release(1, 3 * page) ==
        "!mm!");  // pages 1 and 2 are covered entirely, 0 and 3 in part
  CHECK(write_and_release(page - 1, page) == "!!!!");
  CHECK(write_and_release(0, bytes.size()) == "mmm!");
  CHECK(write_and_release(0, 0) == "!!!!");
  const std::string elsewhere(4 * page, 'e');
  map.release(std::as_bytes(std::span(elsewhere)));
  map.release({map.data() + 2 * page, 4 * page});  // extends beyond the map
  CHECK(map.data()[2 * page] == std::byte{'!'});
  CHECK(elsewhere == std::string(4 * page, 'e'));
  MappedFile(directory.write("empty", "")).release(std::span<const std::byte>());
}

TEST_CASE("a map is private: a write changes neither the file nor another map") {
  const TemporaryDirectory directory;
  const std::string bytes(10000, 'm');
  const std::string path = directory.write("a", bytes);
  MappedFile map(path);
  REQUIRE(map.size() == bytes.size());
  CHECK(std::memcmp(map.data(), bytes.data(), bytes.size()) == 0);
  map.data()[5000] = std::byte{'!'};
  CHECK(read_file(path) == bytes);
  const MappedFile again(path);
  CHECK(again.data()[5000] == std::byte{'m'});

  MappedFile moved = std::move(map);
  CHECK(moved.data()[5000] == std::byte{'!'});
  CHECK(moved.path() == path);
  MappedFile other(directory.write("b", "b"));
  other = std::move(moved);
  CHECK(other.size() == bytes.size());
  CHECK(other.data()[5000] == std::byte{'!'});
  const MappedFile empty(directory.write("empty", ""));
  CHECK(empty.size() == 0);
  CHECK(empty.data() == nullptr);
}

TEST_CASE("a file appears whole on commit") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write("");
    file.write(std::string(3000000, 'x'));
    CHECK(read_file(path) == "old");
    CHECK(directory.entries() == 2);
    file.commit();
    CHECK(read_file(path) == "new " + std::string(3000000, 'x'));
    CHECK_THROWS_AS(file.write("more"), std::logic_error);
    CHECK_THROWS_AS(file.commit(), std::logic_error);
  }
  CHECK(directory.entries() == 1);
  CHECK(file_exists(path));
}

TEST_CASE("without commit the old file stays and nothing is left behind") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "old");
  try {
    AtomicFile file(path);
    file.write("half");
    throw std::runtime_error("interrupted");
  } catch (const std::runtime_error&) {
  }
  CHECK(read_file(path) == "old");
  CHECK(directory.entries() == 1);
}

TEST_CASE("a signal handler can remove what is under way") {
  const TemporaryDirectory directory;
  AtomicFile file(directory.file("a"));
  const AtomicFile second(directory.file("a"));
  CHECK(directory.entries() == 2);
  remove_unfinished_files();
  CHECK(directory.entries() == 0);
  check_error([&] { file.commit(); }, ExitCode::system, "/a: cannot write: No such file");
}

TEST_CASE("the mode follows the umask, a link stays a link") {
  const TemporaryDirectory directory;
  const mode_t before = umask(027);
  write_file(directory.file("a"), "1");
  umask(before);
  struct stat status = {};
  REQUIRE(stat(directory.file("a").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  std::filesystem::create_symlink("a", directory.file("link"));
  write_file(directory.file("link"), "2");
  CHECK(std::filesystem::is_symlink(directory.file("link")));
  CHECK(read_file(directory.file("a")) == "2");
}

TEST_CASE("a file that is replaced keeps its mode and owner") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "old");
  for (const mode_t mode : {0600U, 0644U, 0751U}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    if (geteuid() == 0) REQUIRE(chown(path.c_str(), 1234, 2345) == 0);
    write_file(path, "new");
    struct stat status = {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == mode);
    if (geteuid() != 0) continue;
    CHECK(status.st_uid == 1234);
    CHECK(status.st_gid == 2345);
  }
}

TEST_CASE("a link that leads nowhere makes the file that it names") {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("second", directory.file("first"));
  std::filesystem::create_symlink(directory.file("a"), directory.file("second"));
  write_file(directory.file("first"), "1");
  CHECK(std::filesystem::is_symlink(directory.file("first")));
  CHECK(read_file(directory.file("a")) == "1");
  std::filesystem::create_symlink("none/a", directory.file("lost"));
  check_error([&] { write_file(directory.file("lost"), "x"); }, ExitCode::system,
              "/lost: cannot open for writing: No such file or directory; check the path");
  std::filesystem::create_symlink("self", directory.file("self"));
  check_error([&] { write_file(directory.file("self"), "x"); }, ExitCode::system,
              "/self: cannot open for writing: Too many levels of symbolic links");
}

TEST_CASE("names as long as the file system takes, and no longer") {
  const TemporaryDirectory directory;
  for (const std::size_t length : {240U, 250U, 255U}) {
    const std::string name(length, 'n');
    write_file(directory.file(name), "x");
    CHECK(read_file(directory.file(name)) == "x");
    std::filesystem::remove(directory.file(name));
  }
  check_error([&] { write_file(directory.file(std::string(256, 'n')), "x"); }, ExitCode::system,
              "cannot open for writing: File name too long");
  CHECK(directory.entries() == 0);
}

TEST_CASE("an empty path makes nothing where the program runs") {
  const TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  check_error([] { AtomicFile file(""); }, ExitCode::system,
              "(empty path): cannot open for writing: No such file or directory");
  std::filesystem::current_path(before);
  CHECK(directory.entries() == 0);
}

TEST_CASE("a fault in a map says whose it is") {
  const TemporaryDirectory directory;
  MappedFile map(directory.write("a\x1b", std::string(5000, 'x')));
  const auto* begin = map.data();
  REQUIRE(mapped_file_at(begin) != nullptr);
  CHECK(std::string(mapped_file_at(begin)) == directory.file("a\\u{1b}"));
  CHECK(mapped_file_at(begin + 4999) != nullptr);
  CHECK(mapped_file_at(begin + 5000) == nullptr);
  {
    const MappedFile other = std::move(map);
    CHECK(mapped_file_at(begin) != nullptr);
  }
  CHECK(mapped_file_at(begin) == nullptr);
}

TEST_CASE("what is there is no guess") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "");
  CHECK_FALSE(file_exists(path + "/below"));
  CHECK_FALSE(directory_exists(directory.file("none")));
  check_error([&] { file_exists(directory.file(std::string(256, 'n'))); }, ExitCode::system,
              "cannot open: File name too long");
}

TEST_CASE("what the system refuses to write") {
  const TemporaryDirectory directory;
  const std::string below = directory.file("none/a");
  check_error([&] { write_file(below, "x"); }, ExitCode::system,
              below + ": cannot open for writing: No such file or directory; check the path");
  check_error([&] { write_file(directory.path(), "x"); }, ExitCode::system,
              "cannot write: it is a directory");
  check_error([] { write_file("/dev/full", "x"); }, ExitCode::system,
              "/dev/full: cannot write: No space left on device; free some space");
  check_error([] { write_file("", "x"); }, ExitCode::system, "(empty path): cannot");
  check_error([] { write_file("/proc/none", "x"); }, ExitCode::system, "/proc/none: cannot open");
  if (geteuid() != 0) {
    const std::string path = directory.write("protected", "x");
    chmod(path.c_str(), 0444);
    check_error([&] { write_file(path, "y"); }, ExitCode::system, "Permission denied");
  }
  write_file("/dev/null", "x");
}

TEST_CASE("a write that the system cuts short is finished or reported") {
  const TemporaryDirectory directory;
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string path = directory.file("a");
  check_error([&] { write_file(path, std::string(3000, 'x')); }, ExitCode::system,
              "/a: cannot write: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(directory.entries() == 0);
}

TEST_CASE("bytes for a person") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1000) == "1.0 kB");
  CHECK(human_bytes(999949) == "999.9 kB");
  CHECK(human_bytes(999960) == "1.0 MB");
  CHECK(human_bytes(31e6) == "31.0 MB");
  CHECK(human_bytes(1.2e9) == "1.2 GB");
  CHECK(human_bytes(4.4e12) == "4.4 TB");
  CHECK(human_bytes(2e21) == "2000.0 EB");
}

}  // namespace
}  // namespace attn
