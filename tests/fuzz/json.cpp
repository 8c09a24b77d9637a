// Fuzzes the JSON reader: a document that it accepts is written, and must be the same when read
// again.
#include "base/json.h"
#include "base/json_writer.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  Json value;
  if (!fuzz::accepts([&] { value = parse_json(bytes, "text"); })) return;
  fuzz::require(parse_json(value.dump(), "written") == value, "a value is read as it was written");
  for (const auto& [key, member] : value.items()) {
    if (!member.is_string()) continue;
    std::string text;
    append_string(text, member.get_ref<const std::string&>());
    fuzz::require(parse_json(text, "string") == member, "a string is read as it was written");
  }
}
