// Attention records from outside: the one way back from JSON, which checks while it reads.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "record/attention_record.h"

namespace attn {

/// InputError, begun by `where` and naming the place ("hypotheses[0].search.nodes[3].parent"),
/// unless the record is as docs/json.md describes it: required keys are there, optional ones are of
/// their kind where they are there, maps, vectors and figures have as many layers, heads, rows and
/// columns as the model has and the tokens are, and a search's parents come before their children.
/// Keys that are not known pass.
AttentionRecord record_from_json(const Json& json, const std::string& where);

/// What a line of a file of records holds. InputError as above.
using RecordLine = std::variant<AttentionRecord, WhatIfRecord>;
RecordLine read_record_line(std::string_view line, const std::string& where);

/// The figures of all heads over several sentences, which --report adds after the records
/// (docs/reading-heads.md), as far as the page needs them.
struct HeadReportLine {
  std::size_t sentences = 0;
  SiteReport cross;
};

/// Whether a line begins as such figures do.
bool is_head_report_line(std::string_view line);
HeadReportLine read_head_report_line(std::string_view line, const std::string& where);

}  // namespace attn
