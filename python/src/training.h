// Training from Python.
#pragma once

#include <pybind11/pybind11.h>

namespace attn {

void bind_training(pybind11::module_& module);

}  // namespace attn
