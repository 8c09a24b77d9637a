#include "view/data/head_report_json.h"

#include <limits>

#include "base/strings/utf8.h"
#include "view/data/json_parts.h"

namespace attn {
namespace {

void append_figure(std::string& out, const char* key, const std::optional<float>& value) {
  if (out.back() != '{') out += ',';
  append_format(out, "\"{}\":", key);
  append_number_or_null(out, value.value_or(std::numeric_limits<float>::quiet_NaN()));
}

void append_score(std::string& out, const GoldScore& score) {
  append_figure(out, "precision", score.precision());
  append_figure(out, "recall", score.recall());
  append_figure(out, "aer", score.error_rate());
}

void append_head(std::string& out, const HeadFigures& figures, bool cross) {
  out += '{';
  append_figure(out, "entropy", figures.entropy);
  append_figure(out, "distance", figures.distance);
  append_figure(out, "diagonality", figures.diagonality);
  append_figure(out, "end_mass", figures.end_mass);
  append_figure(out, "punctuation_mass", figures.punctuation_mass);
  if (cross) {
    append_figure(out, "alignment", figures.alignment);
    append_figure(out, "read_alignment", figures.read_alignment);
  }
  if (figures.gold) append_score(out, *figures.gold);
  if (figures.read_gold) append_figure(out, "read_aer", figures.read_gold->error_rate());
  out += '}';
}

void append_place(std::string& out, HeadPlace place) {
  append_format(out, "{{\"layer\":{},\"head\":{}}}", place.layer, place.head);
}

void append_gold(std::string& out, const HeadReport& report) {
  append_format(out, ",\"gold\":{{\"pairs\":{},\"skipped\":{},\"choices\":{{", report.gold_pairs,
                report.gold_skipped);
  for (std::size_t i = 0; i < report.gold_choices.size(); ++i) {
    if (i > 0) out += ',';
    append_string(out, report.gold_choices[i].choice);
    out += ":{";
    append_score(out, report.gold_choices[i].score);
    out += '}';
  }
  out += "}}";
}

}  // namespace

void append_kind_report(std::string& out, const KindReport& kind) {
  out += '[';
  for (int layer = 0; layer < kind.layers; ++layer) {
    out += layer == 0 ? "[" : ",[";
    for (int head = 0; head < kind.heads; ++head) {
      if (head > 0) out += ',';
      append_head(out, kind.at({layer, head}), kind.kind == AttentionKind::cross);
    }
    out += ']';
  }
  out += ']';
}

std::string head_report_json(const HeadReport& report) {
  std::string out = "{\"format\":\"attn-demo.heads\",\"version\":1,\"model\":";
  append_string(out, clean_text(report.model).text);
  append_format(out, ",\"sentences\":{},\"skipped_rows\":{}", report.sentences,
                report.skipped_rows);
  out += ",\"encoder_self\":";
  append_kind_report(out, report.encoder_self);
  out += ",\"decoder_self\":";
  append_kind_report(out, report.decoder_self);
  out += ",\"cross\":";
  append_kind_report(out, report.cross);
  out += ",\"best\":";
  append_list(out, report.best, append_place);
  if (report.gold_pairs + report.gold_skipped > 0) append_gold(out, report);
  return out + "}\n";
}

}  // namespace attn
