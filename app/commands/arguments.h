// Reading choices from the command line, strictly, and what many commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "service/field_text.h"
#include "service/values.h"

namespace attn {

/// Whether these look like one sentence without its quotation marks: several, without a blank.
bool are_single_words(const std::vector<std::string>& sentences);

/// Whether this is a head's whole name, such as cross:2:1, and so hardly a sentence.
bool is_head_name(const std::string& text);

/// --color, for a command that paints.
void add_color_to(CLI::App& command);

/// Makes an empty value of any option but `allowed` a usage error that says what was expected:
/// `--beam ""` is a slip, not a way to ask for the default.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed);

}  // namespace attn
