#include "view/terminal/head_importance_text.h"

#include <fmt/format.h>

#include "base/head_name.h"
#include "view/terminal/table_text.h"

namespace attn {

std::string importance_text(const ImportanceReport& report, int width) {
  Table table;
  table.title =
      fmt::format("{} pairs, {} target tokens; log-probability a token with all heads {:.4f}",
                  with_separators(report.pairs), with_separators(report.tokens), report.log_prob);
  table.columns = {{"head switched off"}, {"log-prob", true}, {"change", true}};
  for (const HeadImportance& head : report.heads) {
    table.rows.push_back({to_string(HeadName{head.kind, head.layer, head.head}),
                          fmt::format("{:.4f}", head.log_prob),
                          fmt::format("{:+.4f}", head.log_prob - report.log_prob)});
  }
  table.notes = {
      "The head that is missed most comes first. A change near 0 says that the others make up for "
      "it, not that it does nothing."};
  return render_tables({table}, width);
}

}  // namespace attn
