// Keyword arguments as the options of the command line that have their names.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "commands/model_options.h"
#include "commands/search_options.h"
#include "commands/what_if_options.h"
#include "training_run.h"

namespace attn {

/// Values are text as one would type it, or lists of such; what is not in the dict was not given.
ModelOptions model_options(const pybind11::dict& given);
SearchOptions search_options(const pybind11::dict& given);
WhatIfOptions what_if_options(const pybind11::dict& given);
TrainOptions train_options(const pybind11::dict& given);

/// Of each option that may be given more than once; empty where there is none.
std::vector<std::string> list_of(const pybind11::dict& given, const char* key);

/// Bytes or text under a key; "" where there is none.
std::string text_of(const pybind11::dict& given, const char* key);

}  // namespace attn
