// The commands. Each adds itself to the command line and runs if it was named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace attn {

/// A command's work, which main runs after parsing.
using Run = std::function<void()>;

void add_translate(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_why(CLI::App& app, Run& run);
void add_page(CLI::App& app, Run& run);
void add_train(CLI::App& app, Run& run);
void add_init(CLI::App& app, Run& run);
void add_convert(CLI::App& app, Run& run);
void add_inspect(CLI::App& app, Run& run);
void add_evaluate(CLI::App& app, Run& run);
void add_serve(CLI::App& app, Run& run);
void add_tokenizer(CLI::App& app, Run& run);

}  // namespace attn
