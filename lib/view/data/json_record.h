// The attention record as JSON, version 1 (docs/json.md describes each field).
#pragma once

#include <string>

#include "record/attention_record.h"

namespace attn {

/// One object on one line, ending in a newline; several records make JSON Lines.
std::string to_json_line(const AttentionRecord& record);

/// One element of "hypotheses", for records that hold such a thing elsewhere.
void append_hypothesis(std::string& out, const HypothesisRecord& hypothesis);

}  // namespace attn
