// Reads and checks attention records in JSON from outside.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "record/attention_record.h"

namespace attn {

/// Reads a record. Throws InputError, beginning with `where` and the path of the value
/// ("hypotheses[0].search.nodes[3].parent"), unless the record is as docs/json.md describes it:
/// required keys exist, optional keys have the right type, maps, vectors and metrics have the
/// layers, heads, rows and columns of the model and the tokens, and the parents in a search come
/// before their children. Unknown keys are ignored.
AttentionRecord record_from_json(const Json& json, const std::string& where);

/// The content of a line of records.
using RecordLine = std::variant<AttentionRecord, WhatIfRecord>;
RecordLine read_record_line(std::string_view line, const std::string& where);

/// The head metrics over several sentences, which --report adds after the records
/// (docs/reading-heads.md), as far as the page needs them.
struct HeadReportLine {
  std::size_t sentences = 0;
  SiteReport cross;
};

/// True if a line begins like such a report.
bool is_head_report_line(std::string_view line);
HeadReportLine read_head_report_line(std::string_view line, const std::string& where);

}  // namespace attn
