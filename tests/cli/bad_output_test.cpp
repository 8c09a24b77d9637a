// Tests outputs that cannot be written: one error line, code 4, and no half-written file.
#include <doctest/doctest.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "bad_input.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

bool have_full_device() {
  return access("/dev/full", W_OK) == 0;
}

/// Drops root's right to ignore file modes in the program. Other users do not have it.
void without_rights() {
  if (geteuid() != 0) return;
  if (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH) != 0) {
    _exit(126);
  }
}

/// True if the program can be run without permission to write everywhere.
bool permissions_hold() {
  return run_program({.args = {"--version"}, .in_child = without_rights}).code == 0;
}

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "The group went home\n";
  return text;
}

}  // namespace

TEST_CASE("bad input: a full device") {
  if (!have_full_device()) {
    MESSAGE("no /dev/full here");
    return;
  }
  const std::string full = "/dev/full";
  const std::vector<std::string> stdout_full = {"stdout: cannot write: No space left"};
  check_all({
      {"translation to a full stdout",
       {"translate", "--config", "{demo}", "The group went home"},
       kSystem,
       stdout_full,
       {},
       full},
      {"JSON to a full stdout",
       {"translate", "--config", "{demo}", "The group went home", "--json", "-"},
       kSystem,
       stdout_full,
       {},
       full},
      {"--json to a full file",
       {"translate", "--config", "{demo}", "The group went home", "--show", "none", "--json", full},
       kSystem,
       {"/dev/full: cannot write: No space left"}},
      {"inspect to a full stdout",
       {"inspect", "--config", "{demo}"},
       kSystem,
       stdout_full,
       {},
       full},
      {"presets to a full stdout", {"inspect", "--presets"}, kSystem, stdout_full, {}, full},
      {"inspect --json to a full file",
       {"inspect", "--config", "{demo}", "--json", full},
       kSystem,
       {"/dev/full: cannot write"}},
      {"--help to a full stdout", {"translate", "--help"}, kSystem, {"cannot write"}, {}, full},
      {"--version to a full stdout", {"--version"}, kSystem, {"cannot write"}, {}, full},
  });
}

TEST_CASE("bad input: files that cannot be written") {
  const auto put = [](const std::string& name, const std::string& bytes) {
    return [=](const TemporaryDirectory& scene) { scene.write(name, bytes); };
  };
  check_all({
      {"--json in a missing directory",
       {"translate", "--config", "{demo}", "x", "--json", "{dir}/none/maps.json"},
       kSystem,
       {"{dir}/none/maps.json"}},
      {"--json to a directory",
       {"translate", "--config", "{demo}", "x", "--json", "{dir}"},
       kSystem,
       {"{dir}", "is a directory"}},
      {"--json below a file",
       {"translate", "--config", "{demo}", "x", "--json", "{demo}/maps.json"},
       kSystem,
       {"{demo}/maps.json"}},
      {"--json in /proc",
       {"translate", "--config", "{demo}", "x", "--json", "/proc/attn-demo.json"},
       kSystem,
       {"/proc/attn-demo.json"}},
      {"inspect --json in a missing directory",
       {"inspect", "--config", "{demo}", "--json", "{dir}/none/report.json"},
       kSystem,
       {"{dir}/none/report.json"}},
      {"init into a directory that holds something",
       {"init", "--config", "{demo}", "--out", "{dir}"},
       kSystem,
       {"{dir}", "not an empty directory"},
       put("mine.txt", "keep me")},
      {"init over a file",
       {"init", "--config", "{demo}", "--out", "{dir}/mine.txt"},
       kSystem,
       {"{dir}/mine.txt", "not an empty directory"},
       put("mine.txt", "keep me")},
      {"init below a file",
       {"init", "--config", "{demo}", "--out", "{dir}/mine.txt/m"},
       kSystem,
       {"{dir}/mine.txt/m"},
       put("mine.txt", "keep me")},
      {"init in /proc", {"init", "--config", "{demo}", "--out", "/proc/m"}, kSystem, {"/proc/m"}},
      {"--json beside a bad model leaves no file",
       {"translate", "--model", "{dir}/none", "x", "--json", "{dir}/maps.json"},
       kSystem,
       {"{dir}/none"}},
      {"--json beside a bad --show leaves no file",
       {"translate", "--config", "{demo}", "x", "--json", "{dir}/maps.json", "--show", "cross:9"},
       kUsage,
       {"layer 9"}},
      {"init with a seed too large leaves no directory",
       {"init", "--config", "{demo}", "--out", "{dir}/m", "--seed", "-1"},
       kUsage,
       {"--seed"}},
      {"init below missing directories leaves none of them",
       {"init", "--config", "{demo}", "--out", "{dir}/a/b/m", "--heads", "5"},
       kInput,
       {"heads 5"}},
  });
}

TEST_CASE("bad input: no permission") {
  if (!permissions_hold()) {
    MESSAGE("this user may write anywhere");
    return;
  }
  const auto locked = [](const TemporaryDirectory& scene) {
    fs::create_directory(scene.file("locked"));
    chmod(scene.file("locked").c_str(), 0555);
  };
  const auto protected_file = [](const std::string& name, mode_t mode) {
    return [=](const TemporaryDirectory& scene) {
      ModelFiles::good().write(scene, "m");
      chmod(scene.write(name, "{}").c_str(), mode);
    };
  };
  const std::string denied = "Permission denied";
  check_all({
      {"--json in an unwritable directory",
       {"translate", "--config", "{demo}", "x", "--json", "{dir}/locked/maps.json"},
       kSystem,
       {"{dir}/locked/maps.json", denied},
       locked,
       {},
       without_rights},
      {"init in an unwritable directory",
       {"init", "--config", "{demo}", "--out", "{dir}/locked/m"},
       kSystem,
       {"{dir}/locked/m", denied},
       locked,
       {},
       without_rights},
      {"init into an empty directory in an unwritable one",
       {"init", "--config", "{demo}", "--out", "{dir}/locked/deep/m"},
       kSystem,
       {"{dir}/locked/deep: cannot make the directory", denied},
       locked,
       {},
       without_rights},
      {"--json over a protected file",
       {"translate", "--config", "{demo}", "x", "--json", "{dir}/maps.json"},
       kSystem,
       {"{dir}/maps.json", denied},
       protected_file("maps.json", 0444),
       {},
       without_rights},
      {"config that may not be read",
       {"translate", "--config", "{dir}/config.json", "x"},
       kSystem,
       {"{dir}/config.json", denied},
       protected_file("config.json", 0),
       {},
       without_rights},
      {"weights that may not be read",
       {"translate", "--model", "{dir}/m", "x"},
       kSystem,
       {"{dir}/m/model.safetensors", denied},
       protected_file("m/model.safetensors", 0),
       {},
       without_rights},
      {"vocabulary that may not be read",
       {"translate", "--model", "{dir}/m", "x"},
       kSystem,
       {"{dir}/m/vocab.json", denied},
       protected_file("m/vocab.json", 0),
       {},
       without_rights},
  });
}

TEST_CASE("a failed run keeps the file that was there") {
  const TemporaryDirectory scene;
  const std::string path = scene.write("maps.json", "mine\n");
  const Result failed = run_program(
      {.args = {"translate", "--config", demo_config(), "--heads", "5", "x", "--json", path}});
  CHECK(failed.code == kInput);
  CHECK(bytes_of(path) == "mine\n");
  CHECK(scene.entries() == 1);
}

TEST_CASE("a reader that leaves early ends the program quietly") {
  const std::vector<std::vector<std::string>> commands = {
      {"translate", "--config", demo_config()},
      {"translate", "--config", demo_config(), "--json", "-"},
      {"translate", "--config", demo_config(), "The group went home"},
      {"inspect", "--presets"},
      {"--help"},
  };
  for (const auto& args : commands) {
    const Result result =
        run_program({.args = args, .input = many_lines(2000), .stdout_reader_gone = true});
    INFO("command: ", args.front());
    INFO("stderr: ", result.err);
    CHECK(result.code == kDone);
    CHECK(errors_of(result).empty());
  }
}

TEST_CASE("init into an empty directory that exists") {
  const TemporaryDirectory scene;
  fs::create_directory(scene.file("m"));
  const Result result =
      run_program({.args = {"init", "--config", demo_config(), "--out", scene.file("m")}});
  CHECK(result.code == kDone);
  CHECK(fs::exists(scene.file("m/model.safetensors")));
  CHECK(scene.entries() == 1);
}

TEST_CASE("init is whole after each signal-free run and the same from the same seed") {
  const TemporaryDirectory scene;
  for (const char* name : {"a", "b"}) {
    const Result made = run_program(
        {.args = {"init", "--config", demo_config(), "--seed", "3", "--out", scene.file(name)}});
    REQUIRE(made.code == kDone);
  }
  CHECK(listing(scene.file("a")) == listing(scene.file("b")));
  CHECK(bytes_of(scene.file("a/model.safetensors")) == bytes_of(scene.file("b/model.safetensors")));
  const Result other = run_program(
      {.args = {"init", "--config", demo_config(), "--seed", "4", "--out", scene.file("c")}});
  CHECK(other.code == kDone);
  CHECK(bytes_of(scene.file("c/model.safetensors")) != bytes_of(scene.file("a/model.safetensors")));
}

}  // namespace attn::test
