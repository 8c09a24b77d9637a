#include "view/data/head_importance_json.h"

namespace attn {

Json head_importance_json(const HeadImportanceReport& report) {
  Json json = Json::object();
  json["pairs"] = report.pairs;
  json["tokens"] = report.tokens;
  json["log_prob"] = report.log_prob;
  json["heads"] = Json::array();
  for (const HeadImportance& head : report.heads) {
    json["heads"].push_back({{"kind", site_key(head.site)},
                             {"layer", head.layer},
                             {"head", head.head},
                             {"log_prob", head.log_prob},
                             {"change", head.log_prob - report.log_prob}});
  }
  return json;
}

}  // namespace attn
