#include "commands/what_if_options.h"

#include <string>
#include <vector>

#include "commands/help.h"

namespace attn {

void add_what_if_to(CLI::App& command, WhatIfOptions& words) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* text,
                       const char* form) {
    command.add_option(name, values, text)
        ->type_name(form)
        ->take_all()
        ->allow_extra_args(false)
        ->group(help_group::what_if);
  };
  add("--without", words.without, "Switch a head off, or a layer's heads, and compare",
      "KIND:LAYER[:HEAD]|best");
  add("--force", words.force,
      "Put a query's weight wholly on one key (both by number or word), and compare",
      "KIND:LAYER:HEAD:QUERY=KEY");
  add("--swap", words.swap, "Replace a word (named, or counted from 0), and compare", "OLD=NEW");
}

}  // namespace attn
