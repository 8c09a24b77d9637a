// The attention record of a sentence, exposed as numpy arrays.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// Shared with every array that views it.
using SharedRecord = std::shared_ptr<AttentionRecord>;

void bind_records(pybind11::module_& module);

}  // namespace attn
