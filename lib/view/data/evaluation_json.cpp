#include "view/data/evaluation_json.h"

#include "base/strings/utf8.h"
#include "record/json/json_parts.h"

namespace attn {
namespace {

void write_gold(JsonWriter& json, const HeadReport& report) {
  json.object([&] {
    json.member("pairs", report.gold_pairs);
    json.member("skipped", report.gold_skipped);
    json.key("choices");
    json.object([&] {
      for (const AlignmentChoiceScore& choice : report.gold_choices) {
        json.key(choice.choice);
        json.object([&] { write_alignment_score(json, choice.score); });
      }
    });
  });
}

}  // namespace

std::string head_report_json(const HeadReport& report) {
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("format", "attn-demo.heads");
      json.member("version", 1);
      json.member("model", clean_text(report.model).text);
      json.member("sentences", report.sentences);
      json.member("skipped_rows", report.skipped_rows);
      json.member("encoder_self", [&] { write_site_report(json, report.encoder_self); });
      json.member("decoder_self", [&] { write_site_report(json, report.decoder_self); });
      json.member("cross", [&] { write_site_report(json, report.cross); });
      json.key("best");
      json.array(report.best, [&](HeadIndex place) {
        json.object([&] {
          json.member("layer", place.layer);
          json.member("head", place.head);
        });
      });
      if (report.gold_pairs + report.gold_skipped > 0) {
        json.member("gold", [&] { write_gold(json, report); });
      }
    });
  });
}

}  // namespace attn
