// The options of a search on the command line, from config/option_table.h.
#pragma once

#include <CLI/CLI.hpp>

#include "service/search_settings.h"

namespace attn {

/// Adds the search options that `command` has: on_translate, on_evaluate, on_explain or on_serve.
/// Values are read into `options`, which must live as long as the command.
void add_search_options(CLI::App& command, SearchOptions& options, OptionPlace place);

}  // namespace attn
