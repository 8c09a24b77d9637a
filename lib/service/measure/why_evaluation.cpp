#include "service/measure/why_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>

#include "analysis/head_statistics.h"
#include "analysis/weight_matrix.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/plural.h"
#include "record/words.h"
#include "service/measure/evaluation.h"
#include "service/progress.h"
#include "service/search_settings.h"
#include "service/what_if.h"
#include "why/why.h"

namespace attn {
namespace {

/// Pairs on which integrated gradients are measured: a pass forward and back for each of 64 points.
constexpr std::size_t kIntegratedPairs = 18;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A pair with what all methods read. `source` and `target` are its words without punctuation.
struct TracedPair {
  const Transformer& model;
  const HypothesisRecord& hypothesis;
  const Trace& trace;
  std::vector<Word> source;
  std::vector<Word> target;
  int unk = 0;
  std::size_t number = 0;  ///< of the pair, from 0
};

/// Sums receipt items of cross-attention over layers and heads.
WeightMatrix cross_items(const Receipt& receipt) {
  const NdArray& cross = receipt.cross;
  WeightMatrix sum(to_int(cross.shape[0]), to_int(cross.shape[3]));
  for (Index t = 0; t < cross.shape[0]; ++t) {
    for (Index l = 0; l < cross.shape[1]; ++l) {
      for (Index h = 0; h < cross.shape[2]; ++h) {
        const std::span<const float> row = cross.row(t, l, h);
        for (int s = 0; s < sum.columns; ++s) sum.at(to_int(t), s) += at(row, s);
      }
    }
  }
  return sum;
}

/// Copies the first `columns` columns of rows, row by row.
WeightMatrix source_columns(const float* values, Index rows, Index row_size, Index columns) {
  WeightMatrix matrix(to_int(rows), to_int(columns));
  for (Index t = 0; t < rows; ++t) {
    std::copy_n(values + t * row_size, columns, &matrix.at(to_int(t), 0));
  }
  return matrix;
}

/// Returns the last layer of maps [L, T, …], for the S source tokens.
WeightMatrix last_layer(const NdArray& maps, Index source) {
  const Index rows = maps.shape[1], columns = maps.shape[2];
  const float* last = maps.values.data() + (maps.shape[0] - 1) * rows * columns;
  return source_columns(last, rows, columns, source);
}

WeightMatrix mean_over_heads(const NdArray& maps) {
  const Index places = maps.shape[0] * maps.shape[1], T = maps.shape[2], S = maps.shape[3];
  WeightMatrix mean(to_int(T), to_int(S));
  for (std::size_t i = 0; i < maps.values.size(); ++i) {
    mean.values[i % to_size(T * S)] += static_cast<double>(maps.values[i]);
  }
  for (double& sum : mean.values) sum /= static_cast<double>(places);
  return mean;
}

WeightMatrix matrix_of(const Matrix& values) {
  return source_columns(values.data(), values.rows(), values.cols(), values.cols());
}

/// The fall of each written word's log-probability without each source word, [written, source].
struct WordFalls {
  WeightMatrix drop;
  WeightMatrix unk;
};

WordFalls occlude_words(const TracedPair& pair) {
  std::vector<OccludedSpan> spans;
  for (const Word& word : pair.source) spans.push_back({word.first, word.count});
  const Occlusion falls = occlude(pair.model, pair.trace, spans, pair.unk);
  WordFalls words{{to_int(std::ssize(pair.target)), to_int(std::ssize(spans))},
                  {to_int(std::ssize(pair.target)), to_int(std::ssize(spans))}};
  for (int w = 0; w < words.drop.rows; ++w) {
    const Word& word = at(pair.target, w);
    for (int t = word.first; t < word.first + word.count; ++t) {
      for (int n = 0; n < words.drop.columns; ++n) {
        words.drop.at(w, n) += static_cast<double>(falls.drop(t, n));
        words.unk.at(w, n) += static_cast<double>(falls.unk(t, n));
      }
    }
  }
  return words;
}

/// A method's matrices, computed together.
using Maps = std::vector<WeightMatrix>;

/// Methods whose matrices [T, S] come from one computation, and so share its time and its obstacle.
struct MethodGroup {
  std::vector<std::pair<std::string, std::string>> methods;  ///< name and label
  std::function<Maps(const TracedPair&)> compute;
  std::size_t most_pairs = static_cast<std::size_t>(-1);
};

Maps contrast_receipt(const TracedPair& pair) {
  const Why why = explain_words(pair.model, {.trace = pair.trace});  // the runners-up
  return {cross_items(make_receipt(pair.model, pair.trace, {pair.trace.written, why.foil.ids}))};
}

Maps contribution_maps(const TracedPair& pair) {
  const Contributions c = make_contributions(pair.model, pair.trace);
  const Index source = std::ssize(pair.trace.source);
  const NdArray& total = c.alti_plus_total;
  return {last_layer(c.cross.alti, source), mean_over_heads(c.cross.value_weighted),
          last_layer(c.cross.res_ln_layer, source),
          source_columns(total.values.data(), total.shape[0], total.shape[1], source)};
}

/// The methods of docs/why.md. The gradients' model copy is made once.
std::vector<MethodGroup> method_groups(const Transformer& model) {
  const auto gradients = std::make_shared<WordGradients>(model);
  const auto scores = [](const TracedPair& pair) {
    return WordScores{pair.trace.source, pair.trace.decoder_input, pair.trace.written};
  };
  return {{{{"receipt", "receipt of the word"}},
           [](const TracedPair& pair) -> Maps {
             return {cross_items(make_receipt(pair.model, pair.trace, {pair.trace.written}))};
           }},
          {{{"receipt_contrast", "receipt of the contrast with the runner-up"}}, contrast_receipt},
          {{{"attention_mean", "attention, mean of all layers"}},
           [](const TracedPair& pair) -> Maps { return {mean_of_heads(pair.hypothesis.cross)}; }},
          {{{"attention_last_layer", "attention, mean of the last layer"}},
           [](const TracedPair& pair) -> Maps {
             const AttentionMaps& cross = pair.hypothesis.cross;
             return {mean_of_layer(cross, cross.layers - 1)};
           }},
          {{{"alti_last_layer", "ALTI of the last cross-attention"},
            {"value_weighted", "value-weighted, mean of all layers"},
            {"value_weighted_norm", "value-weighted with residual and norm, last layer"},
            {"alti_plus", "ALTI+"}},
           contribution_maps},
          {{{"gradient_input_l2", "‖gradient × input‖"},
            {"gradient_l2", "‖gradient‖"},
            {"gradient_dot", "gradient · input, signed"}},
           [gradients, scores](const TracedPair& pair) -> Maps {
             const EmbeddingGradients g = gradients->gradients(scores(pair));
             return {matrix_of(g.source_l2), matrix_of(g.source_grad_l2), matrix_of(g.source_dot)};
           }},
          {{{"integrated", "integrated gradients from <unk>, signed"}},
           [gradients, scores](const TracedPair& pair) -> Maps {
             return {matrix_of(gradients->integrated(scores(pair), {.unk = pair.unk}).source_dot)};
           },
           kIntegratedPairs}};
}

/// Returns the column that a row names: its largest entry, the first of equal ones; −1 if all
/// entries are 0 or one is not finite.
int named_word(std::span<const double> row) {
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto zero = [](double value) { return value == 0; };
  if (!std::ranges::all_of(row, finite) || std::ranges::all_of(row, zero)) return -1;
  return to_int(std::ranges::max_element(row) - row.begin());
}

void add_deletion(DeletionSums& sums, std::span<const double> falls, int named) {
  double mean = 0;
  for (const double fall : falls) mean += fall / static_cast<double>(falls.size());
  sums.random += mean;
  sums.most += *std::ranges::max_element(falls);
  sums.named += named < 0 ? mean : falls[to_size(named)];
}

/// Adds up the scores of all methods, pair by pair.
class WhyEvaluator {
 public:
  explicit WhyEvaluator(const ReadyModel& model) : groups_(method_groups(*model.transformer)) {
    for (const MethodGroup& group : groups_) {
      for (const auto& [name, label] : group.methods) {
        WhyMethodScore& score = report.methods.emplace_back();
        score.name = name;
        score.label = label;
      }
    }
    report.model = model.name;
    for (const char* name : {"drop", "unk"}) {
      WhyMethodScore& score = report.methods.emplace_back();
      score.name = fmt::format("occlusion_{}", name);
      score.label = score.name == "occlusion_drop" ? "occlusion, word dropped"
                                                   : "occlusion, word replaced by <unk>";
    }
  }

  /// `gold` is null if this pair has none to compare with.
  void add(const TracedPair& pair, const GoldAlignment* gold) {
    auto start = Clock::now();
    const WordFalls falls = occlude_words(pair);
    const double occlusion_seconds = seconds_since(start);
    auto score = report.methods.begin();
    for (const MethodGroup& group : groups_) {
      const auto first = score;
      score += std::ssize(group.methods);
      if (pair.number >= group.most_pairs || !first->obstacle.empty()) continue;
      start = Clock::now();
      try {
        const Maps maps = group.compute(pair);
        const double seconds = seconds_since(start);
        for (std::size_t i = 0; i < maps.size(); ++i) {
          WhyMethodScore& one = *(first + to_index(i));
          add_method(one, pair, merge_to_words(maps[i], pair.target, pair.source), falls, gold);
          one.seconds += seconds;
        }
      } catch (const InputError& error) {
        for (auto each = first; each != score; ++each) each->obstacle = error.what();
      }
    }
    for (const WeightMatrix* each : {&falls.drop, &falls.unk}) {
      add_method(*score, pair, *each, falls, gold);
      // Half of the sentences that were run are without the word, half have <unk>.
      (score++)->seconds += occlusion_seconds / 2;
    }
    report.words += pair.target.size();
    ++report.pairs;
  }

  WhyEvaluation report;

 private:
  static void add_method(WhyMethodScore& score, const TracedPair& pair, const WeightMatrix& words,
                         const WordFalls& falls, const GoldAlignment* gold) {
    ++score.pairs;
    std::vector<AlignmentLink> links;
    for (int w = 0; w < words.rows; ++w) {
      const int named = named_word(words.row(w));
      add_deletion(score.drop, falls.drop.row(w), named);
      add_deletion(score.unk, falls.unk.row(w), named);
      if (named < 0) continue;
      links.push_back({at(pair.source, named).text_index, at(pair.target, w).text_index, 1});
    }
    // Parts of one word of the text may name the same word.
    const auto order = [](const AlignmentLink& link) {
      return std::pair(link.source, link.target);
    };
    std::ranges::sort(links, {}, order);
    const auto same = [&](const AlignmentLink& a, const AlignmentLink& b) {
      return order(a) == order(b);
    };
    links.erase(std::unique(links.begin(), links.end(), same), links.end());
    if (gold != nullptr) add_to_score(score.gold, links, *gold);
  }

  std::vector<MethodGroup> groups_;
};

}  // namespace

WhyEvaluation evaluate_why(const ReadyModel& model, const WhyEvaluationInput& input,
                           std::string& note) {
  const std::vector<GoldAlignment> gold = read_gold(input.gold, input.source.size());
  const TranslationSettings settings = translation_settings(model, {});
  const Translator translator = make_translator(model);
  WhyEvaluator evaluator(model);
  WhyEvaluation& report = evaluator.report;
  report.has_gold = !input.gold.empty();
  Progress progress("explaining", "pairs");
  for (std::size_t i = 0; i < input.source.size(); ++i) {
    const PreparedSentence sentence = translator.prepare(input.source[i], settings);
    progress.update_of(i, input.source.size());
    if (!pair_fits(model, sentence, input.target[i])) continue;
    const AttentionRecord record =
        record_sentence(translator, settings, sentence, input.target[i], {});
    const HypothesisRecord& hypothesis = record.hypotheses.front();
    const RecordWords words = words_in_record(record, 0);
    const bool compares = report.has_gold && words.fits_text;
    if (compares) check_gold(gold[i], words, gold_line(input.gold, i));
    const auto start = Clock::now();
    const Trace trace = trace_translation(*model.transformer, record.source.ids,
                                          hypothesis.decoder_input.ids, hypothesis.produced.ids);
    const double seconds = seconds_since(start);
    const TracedPair pair{*model.transformer,
                          hypothesis,
                          trace,
                          text_words(words.source),
                          text_words(words.target),
                          model.tokenizer->special_tokens().unk,
                          report.pairs};
    if (pair.source.empty() || pair.target.empty()) continue;
    report.pass_seconds += seconds;
    if (report.has_gold) ++(compares ? report.gold_pairs : report.gold_skipped);
    evaluator.add(pair, compares ? &gold[i] : nullptr);
  }
  if (report.pairs == 0) {
    throw InputError("no pair of sentences is left: all are empty or too long for the model");
  }
  if (const std::size_t left_out = input.source.size() - report.pairs; left_out > 0) {
    note = fmt::format("{} of {} left out: without words, or longer than the model's positions",
                       left_out, counted(input.source.size(), "pair"));
  }
  return std::move(report);
}

}  // namespace attn
