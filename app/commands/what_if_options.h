// --without, --force and --swap.
#pragma once

#include <CLI/CLI.hpp>

#include "service/what_if.h"

namespace attn {

void add_what_if_to(CLI::App& command, WhatIfOptions& words);

}  // namespace attn
