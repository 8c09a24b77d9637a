#include "view/data/evaluation_json.h"

#include <fmt/format.h>
#include <cstdlib>

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
      if (!report.cross.alignment_heads.empty()) {
        json.key("alignment_heads");
        write_head_indices(json, report.cross.alignment_heads);
      }
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

namespace {

/// Returns the double that has the float's shortest decimal, so that 0.6 is written as 0.6.
double as_typed(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

Json run_json(const TranslationRun& run) {
  Json json = Json::object();
  json["model"] = clean_text(run.model).text;
  if (run.precision != "float32") json["precision"] = run.precision;
  json["seed"] = run.seed ? Json(*run.seed) : Json(nullptr);
  json["beam"] = run.beams;
  json["length_penalty"] = as_typed(run.length_penalty);
  json["early_stopping"] = run.early_stopping;
  json["max_length"] = run.max_length ? Json(*run.max_length) : Json(nullptr);
  json["tokens"] = run.tokens;
  json["seconds"] = run.seconds;
  json["tokens_per_second"] = run.tokens_per_second();
  return json;
}

Json chrf_json(const ChrfReport& chrf) {
  return {{"score", chrf.score},
          {"signature", chrf.signature},
          {"precision", chrf.precision},
          {"recall", chrf.recall}};
}

Json sampled_json(const SampledScore& s) {
  return {{"score", s.score}, {"mean", s.mean}, {"confidence", s.half_width}};
}

Json paired_json(const PairedReport& report) {
  Json json = {{"against", clean_text(report.against).text},
               {"samples", report.samples},
               {"seed", report.seed},
               {"scores", Json::array()}};
  for (const PairedScore& s : report.scores) {
    json["scores"].push_back({{"metric", s.metric},
                              {"system", sampled_json(s.system)},
                              {"against", sampled_json(s.against)},
                              {"p_value", s.p_value}});
  }
  return json;
}

/// Returns one file as a string, several as a list.
Json files_json(const std::vector<std::string>& files) {
  Json names = Json::array();
  for (const std::string& file : files) names.push_back(clean_text(file).text);
  return names.size() == 1 ? names.front() : names;
}

}  // namespace

Json score_json(const ScoreReport& report) {
  Json json = Json::object();
  json["sentences"] = report.sentences;
  const BleuReport& b = report.bleu;
  json["bleu"] = {{"score", b.score},
                  {"signature", b.signature},
                  {"precisions", b.precisions},
                  {"correct", b.correct},
                  {"total", b.total},
                  {"brevity_penalty", b.brevity_penalty},
                  {"hypothesis_length", b.hypothesis_length},
                  {"reference_length", b.reference_length},
                  {"length_ratio", b.length_ratio}};
  json["chrf"] = chrf_json(report.chrf);
  json["chrf_plus_plus"] = chrf_json(report.chrf_words);
  json["ter"] = {{"score", report.ter.score},
                 {"signature", report.ter.signature},
                 {"edits", report.ter.edits},
                 {"reference_length", report.ter.reference_length}};
  if (report.paired) json["paired"] = paired_json(*report.paired);
  for (const auto& [key, file] :
       {std::pair{"source", &report.source}, {"hypotheses", &report.hypotheses}}) {
    if (!file->empty()) json[key] = clean_text(*file).text;
  }
  if (!report.targets.empty()) json["target"] = files_json(report.targets);
  if (report.run) json["translation"] = run_json(*report.run);
  return json;
}

}  // namespace attn
