// The attention record of one sentence, as numpy reads it.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// Shared with every array that looks into it.
using SharedRecord = std::shared_ptr<AttentionRecord>;

void bind_records(pybind11::module_& module);

}  // namespace attn
