// Tests that the examples of --help work as written in the project's folder.
#include <doctest/doctest.h>

#include <filesystem>

#include "bad_input.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// Returns the shell lines of a help text. Lines that end in \ are joined with the next one.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> examples;
  const std::size_t start = help.find("\nExample");
  REQUIRE(start != std::string::npos);
  bool goes_on = false;
  for (const std::string& line : lines_of(help.substr(start + 1))) {
    if (goes_on) {
      examples.back() += "\n" + line;
    } else if (line.starts_with("  ")) {
      examples.push_back(line.substr(2));
    } else {
      continue;
    }
    goes_on = line.ends_with('\\');
  }
  return examples;
}

/// Runs the examples in a folder of its own, with the project's configs and data.
void check_examples_of(const std::string& command) {
  const TemporaryDirectory scene;
  for (const char* part : {"configs", "data"}) {
    fs::create_directory_symlink(fs::path(kProject) / part, scene.file(part));
  }
  const std::string help = run_program({.args = {command, "--help"}}).out;
  const std::string path = fs::path(ATTN_DEMO_BINARY).parent_path().string() + ":/usr/bin:/bin";
  const std::vector<std::string> examples = examples_of(help);
  CHECK(!examples.empty());
  for (const std::string& example : examples) {
    INFO(example);
    const Result result = run_program({.args = {"-c", example},
                                       .environment = {{"PATH", path}},
                                       .folder = scene.path(),
                                       .program = "/bin/sh"});
    // The module of page --alone exists only if emscripten has built it.
    const bool left_out = result.err.find("built without attn-demo.") != std::string::npos;
    CHECK_MESSAGE((result.code == kDone || left_out), result.err);
  }
}

}  // namespace

TEST_CASE("the examples of --help work as written") {
  for (const std::string command : {"translate", "explain", "page", "train", "init", "convert",
                                    "inspect", "evaluate", "tokenizer", "help", "version"}) {
    check_examples_of(command);
  }
}

}  // namespace attn::test
