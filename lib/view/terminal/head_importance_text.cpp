#include "view/terminal/head_importance_text.h"

#include <fmt/format.h>

#include "config/attention_site.h"
#include "view/terminal/table.h"

namespace attn {

namespace {

/// "−0.2346", as the other texts for people write it.
std::string with_minus(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

}  // namespace

std::string head_importance_text(const HeadImportanceReport& report, int width) {
  Table table;
  table.title = fmt::format("{} pairs, {} target tokens; log-probability a token with all heads {}",
                            with_thousands_separators(report.pairs), with_thousands_separators(report.tokens),
                            with_minus(fmt::format("{:.4f}", report.log_prob)));
  table.columns = {{"head switched off"}, {"log-prob", true}, {"change", true}};
  for (const HeadImportance& head : report.heads) {
    table.rows.push_back({to_string(HeadName{head.site, head.layer, head.head}),
                          with_minus(fmt::format("{:.4f}", head.log_prob)),
                          with_minus(fmt::format("{:+.4f}", head.log_prob - report.log_prob))});
  }
  table.notes = {
      "The head that is missed most comes first. A change near 0 says that the others make up for "
      "it, not that it does nothing."};
  return render_tables({table}, width);
}

}  // namespace attn
