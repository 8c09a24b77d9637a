#include "files/line_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/alignment.h"
#include "analysis/map_selection.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "markup/marked_text.h"
#include "markup/text_layout.h"
#include "terminal/console.h"
#include "view/data/evaluation_json.h"
#include "view/measure_text.h"
#include "view/terminal/evaluation_text.h"
#include "view/terminal/map/map_text.h"
#include "view/terminal/what_if_text.h"
#include "view/text_output.h"

namespace attn {
namespace {

/// Returns a translation as a terminal may show it. Its line ends and tabs, which come from the
/// source, are kept.
std::string printable_lines(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\t\n\r", at), text.size());
    lines += printable(std::string_view(text).substr(at, end - at));
    // A lone carriage return would move the cursor back.
    if (end < text.size() && !text.substr(end).starts_with("\r\n")) {
      lines += text[end] == '\r' ? '\n' : text[end];
    }
    at = end + 1;
  }
  return lines;
}

/// Formats a translation as a line. `rank` counts from 0; lines of n-best lists include it.
std::string translation_line(const LineTranslation& translation, std::size_t rank, bool in_list,
                             bool for_terminal) {
  // A model's output is untrusted text: raw control characters of its vocabulary never reach
  // stdout. On a terminal, they, escapes and bidirectional control characters are made visible.
  const std::string& text = translation.text;
  if (in_list) {  // one line each
    std::string safe = for_terminal ? printable_lines(text) : clean_text(text).text;
    std::ranges::replace_if(safe, is_ascii_space, ' ');
    return fmt::format("{}\t{:.4f}\t{}\n", rank + 1, translation.score, safe);
  }
  return (for_terminal ? printable_lines(text) : clean_markup(text).text) + "\n";
}

/// Lines that explain the map that is shown by default.
constexpr int notes_below = 3;

/// Returns a sentence on two words that the map shown by default links: those with the largest
/// product of the weight and its share of all weights that written words put on the same key. A key
/// that many words look at, as function words do, links none of them well; short words count half.
std::string linked_words_text(const AttentionRecord& record, std::size_t hypothesis,
                              const MapSelection& selection) {
  const std::vector<ShownMaps> shown = select_maps(record, hypothesis, selection, true);
  if (shown.empty()) return "";
  const ShownMaps& site = shown.front();
  const std::vector<float>& weights = site.maps.front().weights;
  const std::size_t columns = site.columns.size();
  const auto is_word = [](const Word& word) { return word.type == WordType::word; };
  float most = 0;
  std::string text;
  for (std::size_t c = 0; c < columns; ++c) {
    if (!is_word(site.columns[c])) continue;
    float sum = 0;
    for (std::size_t r = 0; r < site.rows.size(); ++r) {
      if (is_word(site.rows[r])) sum += weights[r * columns + c];
    }
    for (std::size_t r = 0; r < site.rows.size(); ++r) {
      const float weight = weights[r * columns + c];
      if (!is_word(site.rows[r]) || !(weight > 0)) continue;
      constexpr std::size_t kShort = 3;  // in bytes: "the", "die"
      const bool is_short =
          std::min(site.rows[r].text.size(), site.columns[c].text.size()) <= kShort;
      const float link = weight * weight / sum * (is_short ? 0.5F : 1.0F);
      if (!(link > most)) continue;
      most = link;
      text = fmt::format("When \"{}\" is written, this head puts {:.2f} of its weight on \"{}\".",
                         printable(site.rows[r].text), weight, printable(site.columns[c].text));
    }
  }
  return text;
}

/// Returns maps without heads.
AttentionMaps without_weights(const AttentionMaps& maps) {
  return {0, 0, maps.queries, maps.has_projected_keys() ? maps.queries : maps.keys, {}};
}

/// Returns the translations of a line's records, joined with the separators between its parts.
std::vector<LineTranslation> joined(const LineRecords& records, const DecodeConfig& decode) {
  std::vector<std::vector<Translation>> parts;
  std::vector<std::string> gaps;
  for (const AttentionRecord& record : records) {
    std::vector<Translation>& translations = parts.emplace_back();
    for (const HypothesisRecord& hypothesis : record.hypotheses) {
      translations.push_back({hypothesis.text, hypothesis.produced.ids, hypothesis.score});
    }
    gaps.push_back(record.part ? record.part->gap : "");
  }
  return join_parts(parts, gaps, decode);
}

}  // namespace

LineOutput::LineOutput(const ViewOptions& options, const ModelSummary& model,
                       const DecodeConfig& decode)
    : options_(options), decode_(decode), alignment_(options.alignment()) {
  if (alignment_) for_field("align", [&] { check_alignment_method(alignment_->choice, model); });
  if (!options.html.empty() && !alignment_)
    alignment_.emplace();  // the page shows the best head's alignment
}

void LineOutput::keep_best_of(const AttentionRecord& record) {
  for (ShowItem& item : selection_.items) {
    item = resolve_best(item, record, options_.hypothesis_index());
  }
}

bool LineOutput::wants_maps() const {
  return selection_.all || selection_.last_layers || !selection_.items.empty() ||
         !selection_.measured.empty();
}

/// The head that aligns best is known only after the last sentence.
bool LineOutput::waits() const {
  return alignment_ && alignment_->choice.from == AlignmentMethod::Source::best;
}

void LineOutput::note_duplicates(const std::vector<LineTranslation>& translations) {
  if (alike_noted_) return;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    for (std::size_t j = i + 1; j < translations.size(); ++j) {
      if (translations[i].tokens == 0 || translations[i].text != translations[j].text) continue;
      const std::string alike =
          fmt::format("translations {} and {} have the same text", i + 1, j + 1);
      note(decode_.sampling
               ? alike + ": they were sampled twice, or have different tokens, which --json shows"
               : alike + " but different tokens; --json and --html show them");
      alike_noted_ = true;
      return;
    }
  }
}

/// The shipped model scores English similar to its training data at −0.1 to −0.9, and less familiar
/// text lower.
void LineOutput::note_low_confidence(const LineTranslation& best) const {
  constexpr float unsure = -0.95F;
  const bool mean =
      decode_.length_penalty == 1.0F;  // otherwise the score is not a mean over tokens
  if (best.tokens == 0 || !mean || best.score > unsure) return;
  note(
      fmt::format("the model is unsure about this: {:.0f} % per token; is it another language, in "
                  "capitals, or full of rare words?",
                  100 * std::exp(best.score)));
}

void LineOutput::print(const std::vector<LineTranslation>& translations,
                       const LineRecords& records) {
  note_duplicates(translations);
  if (notes_unsure_ && !translations.empty()) note_low_confidence(translations.front());
  for (std::size_t i = 0; i < translations.size(); ++i) {
    const bool in_list = decode_.num_return_sequences > 1 && translations[i].tokens > 0;
    const bool for_terminal = file_ == nullptr && stdout_is_terminal();
    print(translation_line(translations[i], i, in_list, for_terminal));
    if (!options_.aligns()) continue;
    print(pharaoh_line(line_alignment(records, translations[i].ranks), options_.align_weights) +
          "\n");
  }
}

void LineOutput::print(const std::string& line) const {
  if (file_ != nullptr) {
    file_->write(line);
  } else {
    output().write(line);
  }
}

RecordDetail LineOutput::needed(RecordDetail detail) const {
  if (!options_.vectors && vector_bytes_ > PageContent::small_bytes) detail.vectors = false;
  if (!options_.tree && search_bytes_ > PageContent::small_search_bytes) detail.search_tree = false;
  return detail;
}

bool LineOutput::wants_receipts() const {
  return options_.why ||
         (!options_.html.empty() && receipt_bytes_ <= PageContent::small_search_bytes);
}

/// Many lines may be waiting. The first one keeps everything, so that the page knows what it omits.
void LineOutput::leave_out_of_large_page(LineRecords& records, ViewFiles& files) {
  const RecordDetail all{true, true};
  const RecordDetail before = needed(all);
  const bool had_receipts = wants_receipts();
  for (const AttentionRecord& record : records) {
    vector_bytes_ += vector_bytes(record);
    search_bytes_ += search_bytes(record);
    receipt_bytes_ += receipt_bytes(record);
  }
  const RecordDetail kept = needed(all);
  const bool receipts = wants_receipts();
  files.exclude_from_page({!kept.vectors, !kept.search_tree, !receipts});
  const auto leave_out = [&](LineRecords& line) {
    for (AttentionRecord& record : line) {
      if (!kept.vectors) clear_vectors(record);
      if (!kept.search_tree) record.search.reset();
      for (HypothesisRecord& hypothesis : record.hypotheses) {
        if (!receipts) hypothesis.receipts.reset();
      }
    }
  };
  if (waiting_.empty()) return;
  leave_out(records);
  if (kept.vectors == before.vectors && kept.search_tree == before.search_tree &&
      receipts == had_receipts) {
    return;
  }
  for (std::size_t i = 1; i < waiting_.size(); ++i) leave_out(waiting_[i]);
}

void LineOutput::take(LineRecords records, ViewFiles& files) {
  for (AttentionRecord& record : records) {
    if (wants_figures()) statistics_.add(record, options_.hypothesis_index());
  }
  if (!waits()) {
    show(records, files);
    return;
  }
  const bool needs_weights = wants_maps() || !options_.json.empty() || options_.draws();
  for (AttentionRecord& record : records) {
    if (needs_weights) break;  // otherwise many sentences may be waiting
    record.encoder_self = without_weights(record.encoder_self);
    for (HypothesisRecord& hypothesis : record.hypotheses) {
      hypothesis.decoder_self = without_weights(hypothesis.decoder_self);
    }
  }
  leave_out_of_large_page(records, files);
  waiting_.push_back(std::move(records));
}

void LineOutput::annotate_what_if(WhatIfRecord& record) {
  const AnnotationOptions wanted{
      options_.report, options_.aligns() ? alignment_ : std::optional<AlignmentOptions>()};
  if (!wanted.report && !wanted.alignment) return;
  annotate(record.before, wanted);
  annotate(record.after, wanted);
  if (!options_.report) return;
  statistics_.add(record.before, options_.hypothesis_index());
  changed_.add(record.after, options_.hypothesis_index());
}

void LineOutput::finish_what_ifs(const std::string& model) const {
  if (!options_.report || options_.stdout_alone()) return;
  HeadReport before = statistics_.report();
  before.model = model;
  output().write("\n" + render_head_changes(before, changed_.report(), terminal_style().width));
}

std::string LineOutput::finish(const std::string& model, ViewFiles& files) {
  if (!wants_figures()) return "";
  HeadReport report = statistics_.report();
  report.model = model;
  if (waits()) {
    alignment_->choice = resolve_best_head(alignment_->choice, report);
    for (LineRecords& records : std::exchange(waiting_, {})) show(records, files);
  }
  if (options_.report && !options_.stdout_alone()) {
    output().write("\n" + render_head_report(report, terminal_style().width, {align_note}));
  }
  return options_.report || !options_.html.empty() ? head_report_json(report) : "";
}

void LineOutput::show(LineRecords& records, ViewFiles& files) {
  for (AttentionRecord& record : records) {
    annotate(record, {options_.report || !options_.html.empty(), alignment_});
    files.add(record);
  }
  print(records);
}

void LineOutput::print(const LineRecords& records) {
  const std::vector<LineTranslation> translations = joined(records, decode_);
  if (file_ != nullptr || !options_.stdout_alone()) print(translations, records);
  if (options_.stdout_alone() || !wants_maps()) return;
  for (const AttentionRecord& record : records) {
    if (record.part) {
      output().write(fmt::format("\nPart {} of {}: {}\n", record.part->number, record.part->of,
                                 printable(record.source_text)));
    }
    output().write(maps_text(record, printed_lines(translations)));
  }
}

void LineOutput::print(const WhatIfRecord& record) {
  if (options_.stdout_alone()) return;
  output().write(what_if_text(record, terminal_style(), options_.align_weights));
  if (!wants_maps()) return;
  keep_best_of(record.before);
  output().write("\nBefore\n" + maps_text(record.before, 1));
  // A disabled head has a map of zeros; say why.
  const std::string changes = printable(fmt::format("{}", fmt::join(record.after.changes, ", ")));
  output().write(fmt::format("\nAfter: {}\n", changes) + maps_text(record.after, 1));
}

int LineOutput::printed_lines(const std::vector<LineTranslation>& translations) const {
  const int width = terminal_style().width;
  int lines = 0;
  for (const LineTranslation& translation : translations) {
    lines += std::max(1, (display_width(translation.text) + width - 1) / width);
  }
  return lines;
}

std::string LineOutput::measured_text(const AttentionRecord& record,
                                      const TerminalStyle& style) const {
  const std::size_t hypothesis = options_.hypothesis_index();
  std::string text;
  for (MeasuredItem item : selection_.measured) {
    const MeasuredRecord measured = measure_(record, item, true);
    const bool best = item.name.pick == HeadSelector::best;
    item.name = resolve_best(item.name, record, hypothesis);
    if (best && !item.name.head) item.name.head = 0;
    MapText maps =
        render_maps(measured.record, hypothesis,
                    select_measured_maps(measured.record, hypothesis, item, options_.words), style,
                    options_.map_text());
    if (maps.text.empty()) continue;
    maps.add_sentence(measure_sentence(item.measure, measured.largest), style.width);
    text += (text.empty() ? "" : "\n") + maps.text;
  }
  return text;
}

std::string LineOutput::maps_text(const AttentionRecord& record, int lines_above) const {
  const std::size_t hypothesis = options_.hypothesis_index();
  MapTextOptions how = options_.map_text();
  TerminalStyle style = painted_style();
  const bool explained = options_.show.empty() && selection_.items.size() == 1 &&
                         selection_.items.front().pick == HeadSelector::best;
  constexpr int prompt = 1;
  const int below = explained ? notes_below : 0;
  if (style.height > 0) style.height = std::max(1, style.height - lines_above - below - prompt);
  const auto drawn = [&](bool by_words) {
    return render_maps(record, hypothesis, select_maps(record, hypothesis, selection_, by_words),
                       style, how);
  };
  MapText maps = drawn(options_.words);
  const bool chosen = options_.words || options_.pieces || options_.numbers || how.top > 0;
  if (!chosen && maps.spare_lines.value_or(0) < 0) {
    how.note = "Whole words fit; --pieces shows tokens.";
    MapText words = drawn(true);
    if (words.lines < maps.lines) maps = std::move(words);
  }
  const bool encoder =
      selection_.all || selection_.last_layers ||
      std::any_of(selection_.items.begin(), selection_.items.end(),
                  [](const ShowItem& item) { return item.site == AttentionSite::encoder_self; });
  if (encoder && record.encoder_self.sparse()) {
    maps.add_sentence(fmt::format("The encoder's maps of {} tokens are too large for a window; "
                                  "--json and --csv contain the computed cells.",
                                  record.encoder_self.keys),
                      style.width);
  }
  const std::string measured = measured_text(record, painted_style());
  if (maps.text.empty()) return measured.empty() ? "" : "\n" + measured;
  if (!measured.empty()) return "\n" + maps.text + "\n" + measured;
  if (explained) {
    maps.add_sentence(linked_words_text(record, hypothesis, selection_), style.width);
    maps.add_sentence(
        "A weight says where a head looks, not why the word was chosen: attn-demo why.",
        style.width);
    maps.add_sentence("More maps: --show all, --show cross:0, --show encoder:0:1.", style.width);
  }
  return (maps.spare_lines.value_or(1) > 0 ? "\n" : "") + maps.text;
}

}  // namespace attn
