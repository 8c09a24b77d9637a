// The output of translate for each line, on stdout and for the requested files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/alignment.h"
#include "analysis/head_statistics.h"
#include "analysis/map_selection.h"
#include "commands/view_options.h"
#include "files/view_files.h"
#include "record/attention_record.h"
#include "translate/line_parts.h"

namespace attn {

/// The records of a line's parts, in order.
using LineRecords = std::vector<AttentionRecord>;

class LineOutput {
 public:
  /// `options` must outlive this object. Throws UsageError if --align names a head that the model
  /// does not have.
  LineOutput(const ViewOptions& options, const ModelSummary& model, const DecodeConfig& decode);

  /// Sends translations and alignments to a file instead of stdout; null: stdout.
  void print_to(OutputFile* file) { file_ = file; }

  /// Enables notes for translations with a low score.
  void enable_confidence_notes() { notes_unsure_ = true; }

  /// Selects the maps that the terminal shows for each record.
  void select(MapSelection selection) { selection_ = std::move(selection); }
  /// Computes the maps of measures that are selected.
  void measure_with(MeasureRecord measure) { measure_ = std::move(measure); }
  /// Fixes the best head to that of this record, so that two records show the same one.
  void keep_best_of(const AttentionRecord& record);
  /// Returns a record's selected maps as text, preceded by an empty line if there is room below
  /// `lines_above`; empty for a sentence without words.
  std::string maps_text(const AttentionRecord& record, int lines_above) const;
  const std::optional<AlignmentOptions>& alignment() const { return alignment_; }
  bool wants_maps() const;
  bool wants_records() const { return options_.need_records() || wants_maps(); }

  /// Returns `detail` without the parts that a large page omits.
  RecordDetail needed(RecordDetail detail) const;

  /// True if records should have receipts: on request, and as long as the page stays small.
  bool wants_receipts() const;

  /// Prints the translations of a line without records, best first.
  void print(const std::vector<LineTranslation>& translations) { print(translations, {}); }

  /// Shows a line's records and adds them to `files`; delays this if the best-aligning head is
  /// requested, which is known after the last line.
  void take(LineRecords records, ViewFiles& files);

  /// Adds the requested links and statistics to both records; finish_what_ifs() prints the latter.
  void annotate_what_if(WhatIfRecord& record);
  /// Prints the heads' statistics before and after, following the last experiment.
  void finish_what_ifs(const std::string& model) const;

  /// Prints an experiment and the selected maps of both its records.
  void print(const WhatIfRecord& record);
  /// Prints the translations of a line's records and the selected maps of each.
  void print(const LineRecords& records);

  /// Writes delayed output and statistics after the last line. Returns the statistics over all
  /// lines as JSON; empty if not requested.
  std::string finish(const std::string& model, ViewFiles& files);

 private:
  bool wants_figures() const { return options_.report || alignment_.has_value(); }
  bool waits() const;
  void leave_out_of_large_page(LineRecords& records, ViewFiles& files);
  void show(LineRecords& records, ViewFiles& files);
  void print(const std::vector<LineTranslation>& translations, const LineRecords& records);
  /// Prints a note, once, that two entries of an n-best list have the same text.
  void note_duplicates(const std::vector<LineTranslation>& translations);
  /// Prints a note that the model was unsure of a translation.
  void note_low_confidence(const LineTranslation& best) const;
  void print(const std::string& line) const;
  int printed_lines(const std::vector<LineTranslation>& translations) const;

  /// Returns the selected maps of measures as text.
  std::string measured_text(const AttentionRecord& record, const TerminalStyle& style) const;

  const ViewOptions& options_;
  MeasureRecord measure_;
  OutputFile* file_ = nullptr;
  DecodeConfig decode_;
  MapSelection selection_;
  std::optional<AlignmentOptions> alignment_;
  HeadStatistics statistics_;
  HeadStatistics changed_;  ///< of experiments, after the change
  std::vector<LineRecords> waiting_;
  bool alike_noted_ = false, notes_unsure_ = false;
  /// Totals over all lines, for the page.
  std::size_t vector_bytes_ = 0, search_bytes_ = 0, receipt_bytes_ = 0;
};

}  // namespace attn
