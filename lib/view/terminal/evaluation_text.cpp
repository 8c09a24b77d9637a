#include "view/terminal/evaluation_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

std::string number(const std::optional<float>& value, int digits = 2) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "–";
}

std::string head_name(AttentionSite kind, HeadIndex place) {
  return to_string(HeadName{kind, place.layer, place.head});
}

/// Returns the head's rank among the heads that align best, if it is one of the first.
std::string mark_of(const HeadReport& report, HeadIndex place) {
  const HeadMetrics& metrics = report.cross.at(place);
  if (metrics.aligns_what_it_reads()) return *metrics.read_alignment > 0.5F ? "reads" : "";
  const std::vector<HeadIndex> best = best_heads(report.cross);
  const auto found = std::find(best.begin(), best.end(), place);
  if (found == best.end()) return "";
  const auto rank = found - best.begin();
  return rank == 0 ? "← 1st" : rank == 1 ? "← 2nd" : "← 3rd";
}

/// Returns `first` followed by the columns of metrics_of().
std::vector<TableColumn> with_metrics(std::vector<TableColumn> first, AttentionSite kind) {
  first.insert(first.end(), {{"entropy", true},
                             {"distance", true},
                             {"diagonal", true},
                             {kind == AttentionSite::decoder_self ? "start" : "end", true},
                             {"punct", true}});
  if (kind == AttentionSite::cross) first.insert(first.end(), {{"aligns", true}, {"reads", true}});
  return first;
}

std::vector<std::string> metrics_of(const SiteReport& kind, HeadIndex place) {
  const HeadMetrics& f = kind.at(place);
  std::vector<std::string> row = {number(f.entropy), number(f.distance), number(f.diagonality),
                                  number(f.end_mass), number(f.punctuation_mass)};
  if (kind.site == AttentionSite::cross) {
    row.insert(row.end(), {number(f.alignment), number(f.read_alignment)});
  }
  return row;
}

/// Returns `first` followed by `rest`.
std::vector<std::string> row_of(std::vector<std::string> first,
                                const std::vector<std::string>& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

Table table_of(const HeadReport& report, const SiteReport& kind, const char* title) {
  const bool cross = kind.site == AttentionSite::cross;
  Table table;
  table.title = title;
  table.columns = with_metrics({{"head"}}, kind.site);
  if (cross) table.columns.push_back({""});
  for (int layer = 0; layer < kind.layers; ++layer) {
    for (int head = 0; head < kind.heads; ++head) {
      const HeadIndex place{layer, head};
      table.rows.push_back(row_of({head_name(kind.site, place)}, metrics_of(kind, place)));
      if (cross) table.rows.back().push_back(mark_of(report, place));
    }
  }
  return table;
}

/// Returns two rows for each head whose printed metrics differ; counts the other heads in `same`.
Table changes_of(const SiteReport& before, const SiteReport& after, const char* title,
                 std::size_t& same) {
  Table table;
  table.title = title;
  table.columns = with_metrics({{"head"}, {""}}, before.site);
  for (int layer = 0; layer < before.layers; ++layer) {
    for (int head = 0; head < before.heads; ++head) {
      const HeadIndex place{layer, head};
      const std::vector<std::string> was = metrics_of(before, place);
      const std::vector<std::string> is = metrics_of(after, place);
      if (was == is) {
        ++same;
        continue;
      }
      table.rows.push_back(row_of({head_name(before.site, place), "before"}, was));
      table.rows.push_back(row_of({"", "after"}, is));
    }
  }
  return table;
}

/// Explains the columns of the tables.
Table legend(const HeadReport& report) {
  Table table;
  table.columns = {{""}, {""}};
  table.rows = {
      {"entropy", "how evenly a row spreads its weight, in nats: 0 is all on one key"},
      {"distance", "how far away it looks, in tokens; cross: from the map's diagonal"},
      {"diagonal", "1: all on the diagonal; 0: all as far from it as can be"},
      {"end, start", "share of the weight on </s>; in the decoder, on the start symbol"},
      {"punct", "share of the weight on punctuation"},
      {"aligns",
       "how well the steps that write the words link them to source words: the chance to come "
       "back when one goes from a word to a partner and back by the head's weights; 0 to 1"},
      {"reads",
       "the same for the steps that read the words; a head marked \"reads\" looks at the partner "
       "of the word before the one that it writes: read:LAYER:HEAD aligns by it so"},
  };
  if (report.gold_pairs > 0) {
    table.rows.push_back(
        {"AER",
         "alignment error rate: 0 is perfect (Och and Ney 2003); \"AER, read\" takes the "
         "steps that read the words"});
  }
  return table;
}

struct GoldRow {
  std::string choice;
  GoldScore score;
  std::optional<float> read_error_rate;
};

/// Returns all alignments compared with the gold alignment, lowest error rate first.
Table gold_table(const HeadReport& report) {
  std::vector<GoldRow> scores;
  for (const AlignmentChoiceScore& choice : report.gold_choices) {
    scores.push_back({choice.choice, choice.score, std::nullopt});
  }
  for (int layer = 0; layer < report.cross.layers; ++layer) {
    for (int head = 0; head < report.cross.heads; ++head) {
      const HeadMetrics& metrics = report.cross.at({layer, head});
      if (!metrics.gold || !metrics.read_gold) continue;
      scores.push_back({head_name(AttentionSite::cross, {layer, head}), *metrics.gold,
                        metrics.read_gold->error_rate()});
    }
  }
  std::stable_sort(scores.begin(), scores.end(), [](const GoldRow& a, const GoldRow& b) {
    return a.score.error_rate().value_or(2) < b.score.error_rate().value_or(2);
  });
  Table table;
  table.title = fmt::format("word alignments against {} gold one{}", report.gold_pairs,
                            report.gold_pairs == 1 ? "" : "s");
  table.columns = {
      {"from"}, {"AER", true}, {"precision", true}, {"recall", true}, {"AER, read", true}};
  for (const GoldRow& choice : scores) {
    table.rows.push_back({choice.choice, number(choice.score.error_rate(), 3),
                          number(choice.score.precision(), 3), number(choice.score.recall(), 3),
                          choice.read_error_rate ? number(choice.read_error_rate, 3) : ""});
  }
  if (report.gold_skipped > 0) {
    table.notes.push_back(
        fmt::format("{} pair{} left out: the model's pieces make other words than the text has.",
                    report.gold_skipped, report.gold_skipped == 1 ? " was" : "s were"));
  }
  return table;
}

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// Returns "Align best: cross:2:2 (0.66), …", the heads that align the token being written; empty
/// if there are none.
std::string best_line(const HeadReport& report) {
  std::string heads;
  std::size_t named = 0;
  for (const HeadIndex place : report.best) {
    const HeadMetrics& metrics = report.cross.at(place);
    if (named == kHighlightedHeads || (named > 0 && metrics.aligns_what_it_reads())) break;
    heads += fmt::format("{}{} ({})", named++ > 0 ? ", " : "",
                         head_name(AttentionSite::cross, place), number(metrics.alignment));
  }
  if (named == 0) return "";
  return fmt::format("{} best: {}.", named == 1 ? "Aligns" : "Align", heads);
}

/// Returns "Aligns best with the words that it reads: read:0:1 (0.82)."; empty if there is no such
/// head.
std::string best_reader(const HeadReport& report) {
  const HeadMetrics* best = nullptr;
  std::string name;
  for (const HeadIndex place : report.best) {
    const HeadMetrics& metrics = report.cross.at(place);
    if (!metrics.aligns_what_it_reads()) continue;
    if (best != nullptr && *metrics.read_alignment <= *best->read_alignment) continue;
    best = &metrics;
    name = fmt::format("read:{}:{}", place.layer, place.head);
  }
  if (best == nullptr) return "";
  return fmt::format("Aligns best with the words that it reads: {} ({}).", name,
                     number(best->read_alignment));
}

Table closing(const HeadReport& report) {
  Table table = legend(report);
  if (const std::string best = best_line(report); !best.empty()) table.notes.push_back(best);
  if (const std::string best = best_reader(report); !best.empty()) table.notes.push_back(best);
  if (report.skipped_rows > 0) {
    table.notes.push_back(fmt::format("{} held no finite numbers and count{} nowhere.",
                                      plural(report.skipped_rows, "row"),
                                      report.skipped_rows == 1 ? "s" : ""));
  }
  return table;
}

}  // namespace

std::string render_head_report(const HeadReport& report, int width,
                               const std::vector<std::string>& notes) {
  std::string text = fmt::format("heads of {} over {}\n\n", printable(report.model),
                                 plural(report.sentences, "sentence"));
  if (report.sentences == 0) return text + "No sentence held a word: there is nothing to read.\n";
  std::vector<Table> tables = {
      table_of(report, report.encoder_self, "encoder self-attention"),
      table_of(report, report.decoder_self, "decoder self-attention"),
      table_of(report, report.cross, "cross-attention"),
  };
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  if (report.gold_pairs > 0) tables.push_back(gold_table(report));
  tables.push_back(closing(report));
  std::vector<std::string>& last = tables.back().notes;
  last.insert(last.end(), notes.begin(), notes.end());
  return text + render_tables(tables, width);
}

std::string render_head_changes(const HeadReport& before, const HeadReport& after, int width) {
  std::string text = fmt::format("heads of {} over {}, before and after\n\n",
                                 printable(before.model), plural(before.sentences, "sentence"));
  if (before.sentences == 0) return text + "No sentence held a word: there is nothing to read.\n";
  std::size_t same = 0;
  std::vector<Table> tables = {
      changes_of(before.encoder_self, after.encoder_self, "encoder self-attention", same),
      changes_of(before.decoder_self, after.decoder_self, "decoder self-attention", same),
      changes_of(before.cross, after.cross, "cross-attention", same),
  };
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  if (tables.empty()) return text + "No head's figures change.\n";
  if (same > 0) {
    tables.back().notes.push_back(same == 1 ? "The figures of one other head do not change."
                                            : fmt::format("The figures of {} other heads do not "
                                                          "change.",
                                                          same));
  }
  return text + render_tables(tables, width);
}

namespace {

/// Writes "−0.2346" with a real minus sign, as the other texts for people do.
std::string with_minus(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

}  // namespace

std::string head_importance_text(const HeadImportanceReport& report, int width) {
  Table table;
  table.title =
      fmt::format("{} pairs, {} target tokens; log-probability per token with all heads {}",
                  with_thousands_separators(report.pairs), with_thousands_separators(report.tokens),
                  with_minus(fmt::format("{:.4f}", report.log_prob)));
  table.columns = {{"head switched off"}, {"log-prob", true}, {"change", true}};
  for (const HeadImportance& head : report.heads) {
    table.rows.push_back({to_string(HeadName{head.site, head.layer, head.head}),
                          with_minus(fmt::format("{:.4f}", head.log_prob)),
                          with_minus(fmt::format("{:+.4f}", head.log_prob - report.log_prob))});
  }
  table.notes = {
      "The head that is missed most comes first. A change near 0 says that the others make up for "
      "it, not that it does nothing."};
  return render_tables({table}, width);
}

namespace {

std::string with_interval(const SampledScore& s) {
  return fmt::format("{:.2f} ({:.2f} ± {:.2f})", s.score, s.mean, s.half_width);
}

/// Compares two systems side by side, like sacreBLEU's --paired-bs.
std::string paired_text(const PairedReport& report) {
  std::string text = fmt::format(
      "\npaired bootstrap against {}, {} samples, seed {}; mean ± 95% of them, * p below 0.05\n",
      clean_text(report.against).text, report.samples, report.seed);
  for (const PairedScore& s : report.scores) {
    text +=
        fmt::format("{:<8} {:<24} against {:<24} p {:.4f}{}\n", s.metric, with_interval(s.system),
                    with_interval(s.against), s.p_value, s.p_value < 0.05 ? " *" : "");
  }
  return text;
}

}  // namespace

std::string score_text(const ScoreReport& report) {
  const BleuReport& b = report.bleu;
  std::string text;
  const auto line = [&text](const char* name, double score, const std::string& signature) {
    text += fmt::format("{:<8}{:6.2f}  {}\n", name, score, signature);
  };
  line("BLEU", b.score, b.signature);
  line("chrF2", report.chrf.score, report.chrf.signature);
  line("chrF2++", report.chrf_words.score, report.chrf_words.signature);
  line("TER", report.ter.score, report.ter.signature);
  text += fmt::format("\nprecisions       {:.1f} {:.1f} {:.1f} {:.1f} (1- to 4-grams)\n",
                      b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3]);
  text += fmt::format("brevity penalty  {:.3f}\n", b.brevity_penalty);
  text += fmt::format("length           {} tokens, reference {}, ratio {:.3f}\n",
                      b.hypothesis_length, b.reference_length, b.length_ratio);
  text += fmt::format("sentences        {}\n", report.sentences);
  if (report.paired) text += paired_text(*report.paired);
  return text;
}

}  // namespace attn
