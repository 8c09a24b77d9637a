#include "record/attention_record.h"

#include <algorithm>

namespace attn {

std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record) {
  AttentionRecord after = record.after;
  const auto same = [&](const HypothesisRecord& hypothesis) {
    return hypothesis.produced.ids == record.teacher_forced.produced.ids;
  };
  if (std::none_of(after.hypotheses.begin(), after.hypotheses.end(), same)) {
    after.hypotheses.push_back(record.teacher_forced);
    after.hypotheses.back().teacher_forced = true;
  }
  return {record.before, std::move(after)};
}

}  // namespace attn
