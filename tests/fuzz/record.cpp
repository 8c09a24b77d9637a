// Fuzzes the input of `page`: attention records, experiments and metrics of heads, one per line. A
// record that was read is written, and must be the same when read again.
#include "fuzz.h"
#include "record/json/record_json.h"
#include "record/json/record_reader.h"

using namespace attn;

namespace {

std::string written(const RecordLine& line) {
  if (const auto* record = std::get_if<AttentionRecord>(&line)) return to_json_line(*record);
  return what_if_json(std::get<WhatIfRecord>(line));
}

}  // namespace

FUZZ(bytes) {
  if (is_head_report_line(bytes)) {
    fuzz::accepts([&] { read_head_report_line(bytes, "maps.json:1"); });
    return;
  }
  RecordLine line;
  if (!fuzz::accepts([&] { line = read_record_line(bytes, "maps.json:1"); })) return;
  const std::string once = written(line);
  fuzz::require(written(read_record_line(once, "written")) == once, "a record comes back");
}
