// Appending text and numbers to a string, for all views that write text.
#pragma once

#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>

#include "record/head_report.h"

namespace attn {

/// Appends formatted text; the caller escapes text from outside.
template <typename... Args>
void append_format(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

/// Appends the shortest decimal that reads back to the same float; "NaN", "Infinity", "-Infinity".
void append_float(std::string& out, float weight);

// Word alignments in Pharaoh's format, for files and below a translation on the terminal.

/// Returns "0-0 1-2 2-1": source word, target word, both counted from 0. With weights it returns
/// "0-0:0.93 …", with the shortest decimals that read back to the same float. No newline.
std::string pharaoh_line(const WordAlignment& alignment, bool with_weights = false);

}  // namespace attn
