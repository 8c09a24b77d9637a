// The attention record as JSON, version 1 (docs/json.md describes each field).
#pragma once

#include <string>

#include "record/attention_record.h"

namespace attn {

/// What of a record is written, where the record has it, and how.
struct RecordJsonOptions {
  bool vectors = true;  ///< queries, keys and values, ways through the layers, logits
  bool search = true;
  bool report = true;  ///< the figures of every head
  bool alignment = true;
  bool packed = false;  ///< as the HTML page reads it: maps as text, and beside all tokens where
                        ///< words end (docs/json.md, "In the HTML page")
};

/// One object on one line, ending in a newline; several records make JSON Lines.
std::string to_json_line(const AttentionRecord& record, const RecordJsonOptions& form = {});

/// {"format": "attn-demo.what_if", …} on one line (docs/json.md).
std::string what_if_json(const WhatIfRecord& record, const RecordJsonOptions& form = {});

}  // namespace attn
