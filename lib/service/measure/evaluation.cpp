#include <fmt/format.h>

#include "analysis/head_statistics.h"
#include "analysis/pharaoh.h"
#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "metrics/bootstrap.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"
#include "service/measure/evaluation.h"
#include "service/progress.h"
#include "service/search_settings.h"
#include "service/what_if.h"

namespace attn {
namespace {

/// A metric for the bootstrap and the report.
struct Metric {
  std::string name;
  PairedMetric counts;
};

using Score = double (*)(std::span<const double> sums);
constexpr Score kBleu = [](std::span<const double> sums) { return bleu_from_counts(sums).score; };
constexpr Score kChrf = [](std::span<const double> sums) { return chrf_from_counts(sums).score; };
constexpr Score kTer = [](std::span<const double> sums) { return ter_from_counts(sums).score; };

/// Creates a metric. `count` computes the counts of a system.
Metric metric(std::string name, const ScoringInput& s, Score score,
              SampleScore (*sample)(std::span<const double>), const auto& count) {
  Metric m{std::move(name), {}};
  m.counts.system = count(s.hypotheses);
  m.counts.system_score = score(m.counts.system.sums());
  m.counts.score = sample;
  if (s.against == nullptr) return m;
  m.counts.baseline = count(*s.against);
  m.counts.baseline_score = score(m.counts.baseline.sums());
  return m;
}

std::vector<Metric> metrics_of(const ScoringInput& s, const ScoreSettings& settings) {
  using Lines = std::vector<std::string>;
  const auto chrf = [&](bool words) {
    return [&s, options = ChrfOptions{settings.lowercase, words}](const Lines& lines) {
      return chrf_counts(lines, s.references, options);
    };
  };
  const auto bleu = [&](const Lines& lines) {
    return bleu_counts(lines, s.references, {settings.lowercase, settings.tokenizer});
  };
  const auto ter = [&](const Lines& lines) { return ter_counts(lines, s.references); };
  return {metric("BLEU", s, kBleu, bleu_from_sample, bleu),
          metric("chrF2", s, kChrf, chrf_from_sample, chrf(false)),
          metric("chrF2++", s, kChrf, chrf_from_sample, chrf(true)),
          metric("TER", s, kTer, ter_from_sample, ter)};
}

BleuReport bleu_report(const SentenceStatistics& counts) {
  const BleuScore s = bleu_from_counts(counts.sums());
  return {s.score,
          {},
          {s.precisions.begin(), s.precisions.end()},
          {s.correct.begin(), s.correct.end()},
          {s.total.begin(), s.total.end()},
          s.brevity_penalty,
          s.hypothesis_length,
          s.reference_length,
          s.length_ratio()};
}

ChrfReport chrf_report(const SentenceStatistics& counts) {
  const ChrfScore s = chrf_from_counts(counts.sums());
  return {s.score, {}, s.precision, s.recall};
}

PairedReport paired_report(const std::vector<Metric>& metrics, const Resampling& resampling) {
  std::vector<PairedMetric> counts;
  for (const Metric& m : metrics) counts.push_back(m.counts);
  const std::vector<PairedResult> results = paired_bootstrap(counts, resampling);
  PairedReport report{{}, resampling.samples, resampling.seed, {}};
  const auto sampled = [](double score, const ConfidenceInterval& interval) {
    return SampledScore{score, interval.mean, interval.half_width};
  };
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    report.scores.push_back({metrics[m].name, sampled(counts[m].system_score, results[m].system),
                             sampled(counts[m].baseline_score, results[m].baseline),
                             results[m].p_value});
  }
  return report;
}

}  // namespace

void compute_scores(ScoreReport& report, const ScoringInput& system,
                    const ScoreSettings& settings) {
  const std::vector<Metric> metrics = metrics_of(system, settings);
  report.sentences = system.hypotheses.size();
  report.bleu = bleu_report(metrics[0].counts.system);
  report.chrf = chrf_report(metrics[1].counts.system);
  report.chrf_words = chrf_report(metrics[2].counts.system);
  const TerScore ter = ter_from_counts(metrics[3].counts.system.sums());
  report.ter = {ter.score, {}, ter.edits, ter.reference_length};
  SignatureOptions facts{system.references.size(), {}};
  if (system.against != nullptr) facts.resampling = settings.resampling;
  report.bleu.signature = bleu_signature({settings.lowercase, settings.tokenizer}, facts);
  report.chrf.signature = chrf_signature({settings.lowercase, false}, facts);
  report.chrf_words.signature = chrf_signature({settings.lowercase, true}, facts);
  report.ter.signature = ter_signature(facts);
  if (system.against != nullptr) report.paired = paired_report(metrics, settings.resampling);
}

std::vector<ReferencePair> make_scored_pairs(const ReadyModel& model,
                                             const std::vector<std::string>& source,
                                             const std::vector<std::string>& target,
                                             std::string& note) {
  const auto most = to_size(model.transformer->config().max_pair_length());
  std::vector<ReferencePair> pairs;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    ReferencePair pair{model.tokenizer->encode_source(clean_text(source[i]).text).ids,
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
    note = fmt::format("{} pair{} left out: empty, or longer than the model's {} positions",
                       left_out, left_out == 1 ? " is" : "s are", most);
  }
  return pairs;
}

std::string gold_line(const std::string& gold, std::size_t pair) {
  return fmt::format("{}:{}", printable(gold), pair + 1);
}

std::vector<GoldAlignment> read_gold(const std::string& gold, std::size_t pairs) {
  if (gold.empty()) return {};
  std::vector<GoldAlignment> alignments = parse_pharaoh(read_text_file(gold), printable(gold));
  if (alignments.size() != pairs) {
    throw InputError("{} has {} for {} of sentences; expected one line per pair", printable(gold),
                     counted(alignments.size(), "line"), counted(pairs, "pair"));
  }
  return alignments;
}

bool pair_fits(const ReadyModel& model, const PreparedSentence& source, const std::string& target) {
  const auto most = to_size(model.transformer->config().max_pair_length());
  const std::size_t length = model.tokenizer->encode_target(clean_text(target).text).ids.size();
  return !source.empty() && source.truncated_tokens == 0 && length > 1 && length <= most;
}

HeadReport measure_heads(const ReadyModel& model, const std::vector<std::string>& source,
                         const std::vector<std::string>& target, const std::string& gold,
                         std::string& note) {
  const std::vector<GoldAlignment> alignments = read_gold(gold, source.size());
  const TranslationSettings settings = translation_settings(model, {});
  const Translator translator = make_translator(model);
  HeadStatistics statistics;
  Progress progress("looking at heads", "pairs");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const PreparedSentence sentence = translator.prepare(source[i], settings);
    if (!pair_fits(model, sentence, target[i])) {
      ++left_out;
      continue;
    }
    const AttentionRecord record = record_sentence(translator, settings, sentence, target[i], {});
    if (gold.empty()) {
      statistics.add(record);
    } else {
      statistics.add(record, 0, alignments[i], gold_line(gold, i));
    }
    progress.update_of(i + 1, source.size());
  }
  if (left_out == source.size()) {
    throw InputError("no pair of sentences is left: all are empty or too long for the model");
  }
  if (left_out > 0) {
    note = fmt::format("{} of {} left out: empty, or longer than the model's positions", left_out,
                       counted(source.size(), "pair"));
  }
  return statistics.report();
}

}  // namespace attn
