// Tests that every kind of damage to a checkpoint file is recognized and never crashes.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "check_error.h"
#include "temporary_directory.h"
#include "train/checkpoint_files.h"

namespace attn {
namespace {

using test::check_error;
using test::SmallRun;
using test::TemporaryDirectory;

constexpr const char* kOlder = "checkpoint-000000001";
constexpr const char* kNewer = "checkpoint-000000002";

/// A folder with a good checkpoint, and the bytes of a second good one.
struct Folder {
  Folder() {
    SmallRun run;
    run.write(directory.path(), 1);
    run.write(directory.path(), 2);
    bytes = read_file(directory.file(kNewer));
  }

  /// Writes `content` in place of the newer checkpoint. Returns why it was skipped, or "" if it
  /// was read.
  std::string reason(const std::string& content) const {
    directory.write(kNewer, content);
    std::vector<std::string> notes;
    const auto found = newest_checkpoint(directory.path(), notes);
    REQUIRE(found.has_value());
    if (found->update == 2) return "";
    CHECK(found->state == SmallRun().state);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find('\n') == std::string::npos);
    CHECK(notes[0].find(directory.file(kNewer) + ": damaged: ") == 0);
    CHECK(notes[0].ends_with("; skipped"));
    return notes[0];
  }

  TemporaryDirectory directory;
  std::string bytes;
};

/// Returns a file with this header, these bytes of arrays, and a valid checksum.
std::string with_header(const std::string& header, const std::string& arrays = "") {
  std::string bytes = "attn-demo checkpoint 1\n";
  const std::uint64_t length = header.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header + arrays;
  return bytes + sha256_hex(bytes);
}

TEST_CASE("damage: the bytes as written are whole") {
  const Folder folder;
  CHECK(folder.reason(folder.bytes) == "");
  const std::string four("\0\0\x80\x3f", 4);
  CHECK(folder.reason(with_header(R"({"update":2,"state":{},"arrays":[["a",1]]})", four)) == "");
}

TEST_CASE("damage: cut anywhere") {
  const Folder folder;
  for (std::size_t length = 0; length < folder.bytes.size(); ++length) {
    CAPTURE(length);
    CHECK(folder.reason(folder.bytes.substr(0, length)) != "");
  }
}

TEST_CASE("damage: any byte changed in any bit") {
  const Folder folder;
  for (std::size_t i = 0; i < folder.bytes.size(); ++i) {
    for (const char bit : {'\x01', '\x20', '\x80'}) {
      CAPTURE(i);
      std::string changed = folder.bytes;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      CHECK(folder.reason(changed) != "");
    }
  }
}

TEST_CASE("damage: extended, foreign, of another update") {
  const Folder folder;
  CHECK(folder.reason(folder.bytes + '\0').find("bytes of arrays, expected 28") !=
        std::string::npos);
  CHECK(folder.reason(folder.bytes + folder.bytes) != "");
  CHECK(folder.reason("\n" + folder.bytes) != "");
  CHECK(folder.reason("").find("found 0 bytes, expected at least 95") != std::string::npos);
  CHECK(folder.reason(std::string(5000, '\0')).find("does not begin as a checkpoint") !=
        std::string::npos);
  CHECK(folder.reason(std::string(5000, '\xff')) != "");
  std::string version = folder.bytes;
  version[version.find("1\n")] = '2';
  CHECK(folder.reason(version).find("version of the layout is not 1") != std::string::npos);
  const std::string older = read_file(folder.directory.file(kOlder));
  CHECK(folder.reason(older).find("it belongs to update 1, expected the update in its name") !=
        std::string::npos);
}

TEST_CASE("damage: headers with a right checksum and wrong content") {
  const Folder folder;
  for (const char* header : {
           "",
           "{",
           "[]",
           "null",
           "{}",
           "{} {}",
           "\xff",
           R"({"update":2,"state":{}})",
           R"({"update":2,"state":{},"arrays":[],"more":1})",
           R"({"update":2,"update":2,"state":{},"arrays":[]})",
           R"({"update":-2,"state":{},"arrays":[]})",
           R"({"update":2.0,"state":{},"arrays":[]})",
           R"({"update":"2","state":{},"arrays":[]})",
           R"({"update":2,"state":[],"arrays":[]})",
           R"({"update":2,"state":{},"arrays":{}})",
           R"({"update":2,"state":{},"arrays":[1]})",
           R"({"update":2,"state":{},"arrays":[["a"]]})",
           R"({"update":2,"state":{},"arrays":[["a",0,0]]})",
           R"({"update":2,"state":{},"arrays":[[1,0]]})",
           R"({"update":2,"state":{},"arrays":[["a",-1]]})",
           R"({"update":2,"state":{},"arrays":[["a",1]]})",
           R"({"update":2,"state":{},"arrays":[["a",1e30]]})",
           R"({"update":2,"state":{},"arrays":[["a",4611686018427387904]]})",
           R"({"update":2,"state":{},"arrays":[["a",4611686018427387903],["b",1]]})",
           R"({"update":2,"state":{},"arrays":[["a",18446744073709551615]]})",
           R"({"update":2,"state":{},"arrays":[["a",99999999999999999999999]]})",
       }) {
    CAPTURE(header);
    CHECK(folder.reason(with_header(header)) != "");
  }
  CHECK(
      folder.reason(with_header(R"({"update":2,"state":{},"arrays":[["a",4611686018427387904]]})"))
          .find("found 0 bytes of arrays, expected more than a file can hold") !=
      std::string::npos);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(folder.reason(with_header(deep)) != "");
}

TEST_CASE("damage: a header's length that leaves the file") {
  const Folder folder;
  for (const std::uint64_t length :
       {~std::uint64_t{0}, ~std::uint64_t{0} - 94, std::uint64_t{1} << 63, std::uint64_t{1} << 40,
        std::uint64_t{folder.bytes.size()}, std::uint64_t{folder.bytes.size()} - 94}) {
    std::string changed = folder.bytes;
    std::memcpy(changed.data() + 23, &length, sizeof length);
    CHECK(folder.reason(changed).find("found a header of") != std::string::npos);
  }
}

TEST_CASE("damage: a folder or a pipe of that name is passed over without waiting") {
  const Folder folder;
  const std::string path = folder.directory.file(kNewer);
  std::filesystem::remove(path);
  std::vector<std::string> notes;
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(newest_checkpoint(folder.directory.path(), notes)->update == 1);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(newest_checkpoint(folder.directory.path(), notes)->update == 1);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].find("found no regular file") != std::string::npos);
}

TEST_CASE("damage: where all are damaged, that is an error") {
  const Folder folder;
  folder.directory.write(kOlder, "");
  folder.directory.write(kNewer, folder.bytes + "x");
  std::vector<std::string> notes;
  check_error([&] { newest_checkpoint(folder.directory.path(), notes); }, ExitCode::input,
              folder.directory.path() + ": found only damaged checkpoints (" +
                  folder.directory.file(kNewer) + ": damaged: found 29 bytes of arrays");
  CHECK(notes.empty());
}

TEST_CASE("damage: a change after the check is seen when the arrays are read") {
  const Folder folder;
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(folder.directory.path(), notes);
  REQUIRE(found->update == 2);
  SmallRun run;
  for (const std::size_t place : {folder.bytes.size() - 1, folder.bytes.size() - 70}) {
    std::string changed = folder.bytes;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    folder.directory.write(kNewer, changed);
    check_error([&] { read_arrays(*found, run.arrays()); }, ExitCode::input,
                "/checkpoint-000000002: damaged: its checksum does not fit its content");
  }
  std::filesystem::remove(folder.directory.file(kNewer));
  check_error([&] { read_arrays(*found, run.arrays()); }, ExitCode::system,
              "/checkpoint-000000002: cannot open: No such file or directory");
}

}  // namespace
}  // namespace attn
