// The figures of every head as JSON.
#pragma once

#include <string>

#include "record/head_report.h"

namespace attn {

/// One JSON object on one line, newline included (docs/reading-heads.md says what each key holds).
/// Numbers are the shortest decimals that read back to the same float; what nothing defines is
/// null.
std::string head_report_json(const HeadReport& report);

}  // namespace attn
