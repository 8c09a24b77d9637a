// The text files of a command that reads whole files: plain lines or test sets.
#pragma once

#include <string>
#include <vector>

#include "text/test_set/test_set.h"

namespace attn {

using Lines = std::vector<std::string>;

/// Returns the lines of a file unchanged, without line ends. If the file is a test set
/// (text/test_set), returns its texts of this role, which may be several references, and says so in
/// a note.
std::vector<Lines> read_texts(const std::string& path, TextRole role);

/// The same for a file that must have one text of this role.
Lines raw_lines(const std::string& path, TextRole role);

/// Makes lines valid UTF-8 for scoring, with a note. Keeps every space and control character, which
/// the metrics depend on.
Lines valid_lines(Lines lines, const std::string& path);
Lines scored_lines(const std::string& path, TextRole role);

}  // namespace attn
