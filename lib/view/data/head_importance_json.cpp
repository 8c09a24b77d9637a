#include "view/data/head_importance_json.h"

namespace attn {

Json importance_json(const ImportanceReport& report) {
  Json json = Json::object();
  json["pairs"] = report.pairs;
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
