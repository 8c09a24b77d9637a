// The answer of Model.why(), exposed as numpy arrays under the keys of its JSON.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "service/why/why.h"

namespace attn {

/// Shared with every array that views it.
using SharedWhy = std::shared_ptr<WhyAnswer>;

void bind_why(pybind11::module_& module);

}  // namespace attn
