#include "view/data/what_if_json.h"

#include "view/data/json_parts.h"
#include "view/data/json_record.h"

namespace attn {

std::string what_if_json(const WhatIfRecord& record) {
  const auto object = [](const AttentionRecord& each) {
    std::string line = to_json_line(each);
    line.pop_back();
    return line;
  };
  std::string out = "{\"format\":\"attn-demo.what_if\",\"version\":1,\"changes\":";
  append_strings(out, record.after.changes);
  out += ",\"before\":" + object(record.before) + ",\"after\":" + object(record.after);
  out += ",\"replayed\":";
  append_hypothesis(out, record.replayed);
  return out + "}\n";
}

}  // namespace attn
