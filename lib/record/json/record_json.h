// Attention records as JSON, version 1 (docs/json.md describes each field).
#pragma once

#include <string>

#include "record/attention_record.h"

namespace attn {

/// The parts of a record to write, if the record has them, and their format.
struct RecordJsonOptions {
  bool vectors = true;  ///< queries, keys and values, residual streams, logits
  bool search = true;
  bool report = true;  ///< the metrics of every head
  bool alignment = true;
  bool receipts = true;
  bool packed = false;  ///< for the HTML page: maps as text, and the ends of words for all tokens
                        ///< (docs/json.md, "In the HTML page")
  /// The same record with maps by words (merge_record_to_words()), written as `words`; null: none.
  const AttentionRecord* words = nullptr;
};

/// Returns one object on one line with a final newline; several records make JSON Lines.
std::string to_json_line(const AttentionRecord& record, const RecordJsonOptions& form = {});

/// Returns {"format": "attn-demo.what_if", …} on one line (docs/json.md).
std::string what_if_json(const WhatIfRecord& record, const RecordJsonOptions& form = {});

}  // namespace attn
