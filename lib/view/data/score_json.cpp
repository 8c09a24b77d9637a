#include "view/data/score_json.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/strings/utf8.h"

namespace attn {
namespace {

/// The shortest decimal of a float as a double, so that 0.6 is written 0.6.
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
  json["chrf"] = {{"score", report.chrf.score},
                  {"signature", report.chrf.signature},
                  {"precision", report.chrf.precision},
                  {"recall", report.chrf.recall}};
  for (const auto& [key, file] : {std::pair{"source", &report.source},
                                  {"hypotheses", &report.hypotheses},
                                  {"target", &report.target}}) {
    if (!file->empty()) json[key] = clean_text(*file).text;
  }
  if (report.run) json["translation"] = run_json(*report.run);
  return json;
}

}  // namespace attn
