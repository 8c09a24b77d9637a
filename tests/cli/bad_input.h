// Named cases of bad input for the real program, and the requirements for each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model_files.h"
#include "run_program.h"
#include "temporary_directory.h"

namespace attn::test {

/// The sentence that most tests translate, and a translation of it. The exit codes below are named
/// after their causes (docs/commands.md).
inline const std::string kDemoSource = "The group went home";
inline const std::string kDemoTarget = "Die Gruppe ging nach Hause";

/// The folder of the project.
inline const std::string kProject = ATTN_SOURCE_DIR;

enum Code { kDone = 0, kUsage = 2, kInput = 3, kSystem = 4, kMemory = 5 };

/// In `args`, {dir} stands for the case's own directory, {demo} for configs/demo.json and
/// {tokenizer} for the demo's tokenizer.
struct BadCase {
  std::string name;
  std::vector<std::string> args;
  int code;
  std::vector<std::string> parts;  ///< all of them must occur in the line
  std::function<void(const TemporaryDirectory&)> prepare = {};
  std::string stdout_path = {};
  std::function<void()> in_child = {};
};

/// Runs the case. Checks the exit code; one line "attn-demo: …" on stderr besides notes, with
/// `parts` and without control characters; nothing on stdout; and that no file appears or
/// disappears in its directory.
void check_bad(const BadCase& bad);
void check_all(const std::vector<BadCase>& cases);

/// Returns `text` with the placeholders replaced.
std::string filled(std::string text, const TemporaryDirectory& scene);

std::vector<std::string> lines_of(const std::string& text);

/// Returns the lines of stderr that begin with "note: ", and those that do not.
std::vector<std::string> notes_of(const Result& result);
std::vector<std::string> errors_of(const Result& result);

/// Returns the contents of an existing file.
std::string bytes_of(const std::string& path);

/// Returns the names below the directory, sorted; directories end in a slash.
std::vector<std::string> listing(const std::string& directory);

/// True if the text contains no ESC and no other control character except line ends.
bool is_plain(const std::string& text);

}  // namespace attn::test
