// What `page` takes: attention records, experiments and figures of heads, a line each. What goes
// into a page passes the same check again.
#include "fuzz.h"
#include "view/page/page_records.h"

using namespace attn;

FUZZ(bytes) {
  if (is_heads_line(bytes)) {
    fuzz::accepts([&] { check_heads_line(bytes, "maps.json:1"); });
    return;
  }
  std::vector<std::string> records;
  if (!fuzz::accepts([&] { records = page_record_lines(bytes, "maps.json:1"); })) return;
  for (const std::string& record : records) {
    fuzz::require(page_record_lines(record, "written").size() == 1, "a record is one record");
  }
}
