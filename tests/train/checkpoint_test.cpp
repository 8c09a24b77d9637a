#include "train/run/checkpoint.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/at.h"
#include "base/files/files.h"
#include "check_error.h"
#include "temporary_directory.h"
#include "train/checkpoint_files.h"

// Intercepts the system calls that make a file durable.
namespace {
std::vector<std::string> calls;
}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status = {};
  fstat(descriptor, &status);
  calls.push_back(S_ISDIR(status.st_mode) ? "fsync folder" : "fsync file");
  return attn::to_int(syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) {
  calls.push_back("rename");
  return attn::to_int(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace attn {
namespace {

using test::check_error;
using test::SmallRun;
using test::TemporaryDirectory;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Returns arrays of the same sizes, poisoned.
SmallRun poisoned() {
  SmallRun run;
  for (float& value : run.weights) value = std::numeric_limits<float>::quiet_NaN();
  for (float& value : run.moments) value = std::numeric_limits<float>::quiet_NaN();
  return run;
}

TEST_CASE("a checkpoint comes back bit by bit") {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("checkpoints");
  SmallRun run;
  std::vector<std::string> notes;
  CHECK_FALSE(newest_checkpoint(folder, notes).has_value());  // the folder does not exist yet
  run.write(folder, 250);
  const auto found = newest_checkpoint(folder, notes);
  REQUIRE(found.has_value());
  CHECK(found->path == folder + "/checkpoint-000000250");
  CHECK(found->update == 250);
  CHECK(found->state == run.state);
  CHECK(found->state.dump() == run.state.dump());  // including the order of the keys
  CHECK(notes.empty());
  SmallRun read = poisoned();
  read_arrays(*found, read.arrays());
  CHECK(same_bits(read.weights, run.weights));
  CHECK(same_bits(read.moments, run.moments));
}

TEST_CASE("arrays longer than a piece, and NaN, come back") {
  const TemporaryDirectory directory;
  std::vector<float> values(700001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.37f;
  values[3] = std::numeric_limits<float>::quiet_NaN();
  write_checkpoint(directory.path(), 1, Json::object(), {{"long", values}});
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(directory.path(), notes);
  REQUIRE(found.has_value());
  std::vector<float> read(values.size());
  read_arrays(*found, {{"long", read}});
  CHECK(same_bits(read, values));
}

TEST_CASE("a checkpoint is on the disk before its name is, and the name before older ones go") {
  const TemporaryDirectory directory;
  SmallRun run;
  calls.clear();
  run.write(directory.path(), 1);
  CHECK(calls == std::vector<std::string>{"fsync file", "rename", "fsync folder"});
}

TEST_CASE("the newest two are kept") {
  const TemporaryDirectory directory;
  SmallRun run;
  for (const std::uint64_t update : {999999999u, 5u, 90u, 100u})
    run.write(directory.path(), update);
  // The first checkpoint was of a later update than the run had reached when it resumed.
  CHECK(names_in(directory.path()) ==
        std::vector<std::string>{"checkpoint-000000090", "checkpoint-000000100"});
  run.write(directory.path(), 100);  // the same one again
  CHECK(names_in(directory.path()) ==
        std::vector<std::string>{"checkpoint-000000090", "checkpoint-000000100"});
  run.write(directory.path(), 1234567890);  // more than nine digits
  CHECK(names_in(directory.path()) ==
        std::vector<std::string>{"checkpoint-000000100", "checkpoint-1234567890"});
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(directory.path(), notes)->update == 1234567890);
}

TEST_CASE("leftovers of a killed run are ignored, and go with the next write; others stay") {
  const TemporaryDirectory directory;
  SmallRun run;
  run.write(directory.path(), 1);
  directory.write("checkpoint-000000002.attn-demo-tmp-0", "half");
  directory.write("checkpoint-000000003.attn-demo-tmp-12", "");
  const std::vector<std::string> others = {"checkpoint-000000002.tmp-4711-0",
                                           "checkpoint-2.attn-demo-tmp-0",
                                           "checkpoint-12",
                                           "checkpoint-000000002.attn-demo-tmp-1x",
                                           "checkpoint-0000000012",
                                           "notes.txt",
                                           "checkpoint-000000002.bak",
                                           "checkpoint-99999999999999999999"};
  for (const std::string& name : others) directory.write(name, "mine");
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(directory.path(), notes)->update == 1);
  CHECK(notes.empty());
  run.write(directory.path(), 5);
  std::vector<std::string> expected = others;
  expected.insert(expected.end(), {"checkpoint-000000001", "checkpoint-000000005"});
  std::sort(expected.begin(), expected.end());
  CHECK(names_in(directory.path()) == expected);
}

TEST_CASE("arrays that differ are refused before anything is filled") {
  const TemporaryDirectory directory;
  SmallRun run;
  run.write(directory.path(), 1);
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(directory.path(), notes);
  REQUIRE(found.has_value());
  SmallRun read = poisoned();
  auto arrays = read.arrays();
  arrays.pop_back();
  check_error([&] { read_arrays(*found, arrays); }, ExitCode::input,
              "/checkpoint-000000001: found 3 arrays, expected 2");
  arrays = read.arrays();
  arrays[2].name = "averages";
  check_error([&] { read_arrays(*found, arrays); }, ExitCode::input,
              "/checkpoint-000000001: array 2 is 'moments' with 2 numbers, expected 'averages' "
              "with 2; it belongs to another model");
  arrays = read.arrays();
  arrays[2].values = arrays[2].values.first(1);
  check_error([&] { read_arrays(*found, arrays); }, ExitCode::input,
              "array 2 is 'moments' with 2 numbers, expected 'moments' with 1");
  for (const float value : read.weights) CHECK(value != value);
}

TEST_CASE("what cannot be read back is never written") {
  const TemporaryDirectory directory;
  SmallRun run;
  auto arrays = run.arrays();
  CHECK_THROWS_AS(write_checkpoint(directory.path(), 1, Json::array(), arrays), std::logic_error);
  arrays[1].name = "weights";
  CHECK_THROWS_AS(write_checkpoint(directory.path(), 1, run.state, arrays), std::logic_error);
  arrays[1].name = "";
  CHECK_THROWS_AS(write_checkpoint(directory.path(), 1, run.state, arrays), std::logic_error);
  for (int i = 0; i < 40; ++i) run.state = Json{{"deeper", run.state}};
  CHECK_THROWS(run.write(directory.path(), 1));
  CHECK(directory.entries() == 0);
}

TEST_CASE("a limit on the size of files leaves the older checkpoint and nothing else") {
  const TemporaryDirectory directory;
  SmallRun run;
  run.write(directory.path(), 1);
  std::vector<float> large(100000, 1.0f);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{10}, rlim_t{100}, rlim_t{300000}}) {
    const rlimit small = {bytes, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    check_error(
        [&] {
          write_checkpoint(directory.path(), 2, run.state, {{"large", large}});
        },
        ExitCode::system, "/checkpoint-000000002: cannot write: File too large");
    setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(names_in(directory.path()) == std::vector<std::string>{"checkpoint-000000001"});
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(directory.path(), notes)->update == 1);
}

TEST_CASE("a full disk leaves the older checkpoint and nothing else") {
  const TemporaryDirectory directory;
  const char* folder = directory.path().c_str();
  if (mount("none", folder, "tmpfs", 0, "size=256k") != 0) {
    MESSAGE("skipped: no right to mount a small disk here");
    return;
  }
  const struct Unmount {
    const char* folder;
    ~Unmount() { umount(folder); }
  } unmount{folder};
  SmallRun run;
  run.write(directory.path(), 1);
  std::vector<float> large(100000, 1.0f);
  check_error(
      [&] {
        write_checkpoint(directory.path(), 2, run.state, {{"large", large}});
      },
      ExitCode::system,
      "/checkpoint-000000002: cannot write: No space left on device; free some space");
  CHECK(names_in(directory.path()) == std::vector<std::string>{"checkpoint-000000001"});
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(directory.path(), notes)->update == 1);
  run.write(directory.path(), 3);  // with enough space, it is written again
  CHECK(newest_checkpoint(directory.path(), notes)->update == 3);
}

TEST_CASE("a folder that cannot be made or written") {
  const TemporaryDirectory directory;
  SmallRun run;
  check_error([&] { run.write(directory.file("none/below"), 1); }, ExitCode::system,
              "/none/below: cannot make the folder: No such file or directory; check the path");
  check_error([&] { run.write(directory.write("file", ""), 1); }, ExitCode::system,
              "/checkpoint-000000001: cannot open for writing: Not a directory");
  std::vector<std::string> notes;
  check_error([&] { newest_checkpoint(directory.file("file"), notes); }, ExitCode::system,
              "/file: cannot read the folder: Not a directory");
}

}  // namespace
}  // namespace attn
