#include "view/data/why_evaluation_json.h"

#include "base/json.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

template <typename Number>
Json or_null(const std::optional<Number>& value) {
  return value ? Json(static_cast<double>(*value)) : Json(nullptr);
}

Json method_json(const WhyMethodScore& score, bool has_gold) {
  Json json = {{"method", score.name}, {"label", score.label}};
  if (!score.obstacle.empty()) {
    json["obstacle"] = clean_text(score.obstacle).text;
    return json;
  }
  json["pairs"] = score.pairs;
  if (has_gold) json["aer"] = or_null(score.gold.error_rate());
  json["deletion"] = {{"drop", or_null(score.drop.faithfulness())},
                      {"unk", or_null(score.unk.faithfulness())}};
  json["seconds_per_sentence"] =
      score.pairs == 0 ? 0 : score.seconds / static_cast<double>(score.pairs);
  return json;
}

}  // namespace

std::string why_evaluation_json(const WhyEvaluation& report) {
  Json json = Json::object();
  json["format"] = "attn-demo.why_evaluation";
  json["version"] = 1;
  json["model"] = clean_text(report.model).text;
  json["pairs"] = report.pairs;
  json["words"] = report.words;
  if (report.has_gold) {
    json["gold"] = {{"pairs", report.gold_pairs}, {"skipped", report.gold_skipped}};
  }
  json["pass_seconds_per_sentence"] =
      report.pairs == 0 ? 0 : report.pass_seconds / static_cast<double>(report.pairs);
  json["methods"] = Json::array();
  for (const WhyMethodScore& score : report.methods) {
    json["methods"].push_back(method_json(score, report.has_gold));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attn
