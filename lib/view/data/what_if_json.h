// An experiment for programs.
#pragma once

#include <string>

#include "record/what_if_record.h"

namespace attn {

/// {"format": "attn-demo.what_if", …} on one line (docs/json.md).
std::string what_if_json(const WhatIfRecord& record);

}  // namespace attn
