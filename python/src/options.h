// Conversion of keyword arguments to the service's types.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "service/model/model_choice.h"
#include "service/search_settings.h"
#include "service/training/training_run.h"
#include "service/what_if.h"
#include "service/why/why.h"

namespace attn {

/// Numbers may also be given as text; paths and texts are bytes; keys missing from the dict are not
/// set. Throws UsageError naming the field for an invalid value.
ModelChoice model_choice(const pybind11::dict& kwargs);
SearchOptions search_options(const pybind11::dict& kwargs);
WhatIfOptions what_if_words(const pybind11::dict& kwargs);
WhyQuestion why_question(const pybind11::dict& kwargs);
TrainingRequest training_request(const pybind11::dict& kwargs);

/// Returns the values of an option that may be repeated; empty if there are none.
std::vector<std::string> string_list(const pybind11::dict& kwargs, const char* key);

/// Returns the bytes or text under a key.
std::optional<std::string> optional_text(const pybind11::dict& kwargs, const char* key);

}  // namespace attn
