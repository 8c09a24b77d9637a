#include "head_importance_report.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/head_name.h"
#include "base/utf8.h"
#include "console.h"
#include "view/terminal/table_text.h"

namespace attn {
namespace {

std::string path_of(const HeadImportance& head) {
  return to_string(HeadName{head.kind, head.layer, head.head});
}

}  // namespace

std::vector<ScoredPair> scored_pairs(const ReadyModel& model,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target) {
  const auto most = static_cast<std::size_t>(model.transformer->config().max_positions);
  std::vector<ScoredPair> pairs;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    ScoredPair pair{model.tokenizer->encode_source(clean_text(source[i]).text).ids,
                    model.tokenizer->encode_target(clean_text(target[i]).text).ids};
    const bool fits = pair.source.size() > 1 && pair.source.size() <= most &&
                      pair.target.size() > 1 && pair.target.size() <= most;
    if (fits) {
      pairs.push_back(std::move(pair));
    } else {
      ++left_out;
    }
  }
  if (pairs.empty()) {
    throw InputError("no pair of sentences is left: all are empty or longer than {} tokens", most);
  }
  if (left_out > 0) {
    note(fmt::format("{} pair{} left out: empty, or longer than the model's {} positions", left_out,
                     left_out == 1 ? " is" : "s are", most));
  }
  return pairs;
}

std::string importance_text(const ImportanceReport& report, std::size_t pairs, int width) {
  Table table;
  table.title =
      fmt::format("{} pairs, {} target tokens; log-probability a token with all heads {:.4f}",
                  with_separators(pairs), with_separators(report.tokens), report.log_prob);
  table.columns = {{"head switched off"}, {"log-prob", true}, {"change", true}};
  for (const HeadImportance& head : report.heads) {
    table.rows.push_back({path_of(head), fmt::format("{:.4f}", head.log_prob),
                          fmt::format("{:+.4f}", head.log_prob - report.log_prob)});
  }
  table.notes = {
      "The head that is missed most comes first. A change near 0 says that the others make up for "
      "it, not that it does nothing."};
  return render_tables({table}, width);
}

Json importance_json(const ImportanceReport& report, std::size_t pairs) {
  Json json;
  json["pairs"] = pairs;
  json["tokens"] = report.tokens;
  json["log_prob"] = report.log_prob;
  json["heads"] = Json::array();
  for (const HeadImportance& head : report.heads) {
    json["heads"].push_back({{"kind", kind_word(head.kind)},
                             {"layer", head.layer},
                             {"head", head.head},
                             {"log_prob", head.log_prob},
                             {"change", head.log_prob - report.log_prob}});
  }
  return json;
}

}  // namespace attn
