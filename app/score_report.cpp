#include "score_report.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/utf8.h"

namespace attn {
namespace {

/// The shortest decimal of a float as a double, so that 0.6 is written 0.6.
double as_typed(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

const char* name_of(EarlyStopping rule) {
  switch (rule) {
    case EarlyStopping::no:
      return "false";
    case EarlyStopping::yes:
      return "true";
    case EarlyStopping::never:
      return "never";
  }
  return "false";
}

Json run_json(const TranslationRun& run) {
  Json json;
  json["model"] = clean_text(run.model).text;
  json["seed"] = run.seed ? Json(*run.seed) : Json(nullptr);
  json["beam"] = run.decode.num_beams;
  json["length_penalty"] = as_typed(run.decode.length_penalty);
  json["early_stopping"] = name_of(run.decode.early_stopping);
  json["max_length"] =
      run.decode.max_new_tokens > 0 ? Json(run.decode.max_new_tokens) : Json(nullptr);
  json["tokens"] = run.tokens;
  json["seconds"] = run.seconds;
  json["tokens_per_second"] = run.tokens_per_second();
  return json;
}

}  // namespace

double TranslationRun::tokens_per_second() const {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
}

void score(ScoreReport& report, const std::vector<std::string>& hypotheses,
           const std::vector<std::string>& references) {
  report.sentences = references.size();
  report.bleu = corpus_bleu(hypotheses, references, {.lowercase = report.lowercase});
  report.chrf = corpus_chrf(hypotheses, references, {.lowercase = report.lowercase});
}

std::string score_text(const ScoreReport& report) {
  const BleuScore& b = report.bleu;
  std::string text;
  text += fmt::format("BLEU  {:6.2f}  {}\n", b.score, bleu_signature({report.lowercase}));
  text +=
      fmt::format("chrF2 {:6.2f}  {}\n\n", report.chrf.score, chrf_signature({report.lowercase}));
  text += fmt::format("precisions       {:.1f} {:.1f} {:.1f} {:.1f} (1- to 4-grams)\n",
                      b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3]);
  text += fmt::format("brevity penalty  {:.3f}\n", b.brevity_penalty);
  text += fmt::format("length           {} tokens, reference {}, ratio {:.3f}\n",
                      b.hypothesis_length, b.reference_length, b.length_ratio());
  text += fmt::format("sentences        {}\n", report.sentences);
  return text;
}

Json score_json(const ScoreReport& report) {
  Json json;
  json["sentences"] = report.sentences;
  const BleuScore& b = report.bleu;
  json["bleu"] = {{"score", b.score},
                  {"signature", bleu_signature({report.lowercase})},
                  {"precisions", b.precisions},
                  {"correct", b.correct},
                  {"total", b.total},
                  {"brevity_penalty", b.brevity_penalty},
                  {"hypothesis_length", b.hypothesis_length},
                  {"reference_length", b.reference_length},
                  {"length_ratio", b.length_ratio()}};
  json["chrf"] = {{"score", report.chrf.score},
                  {"signature", chrf_signature({report.lowercase})},
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
