// What translate prints of each line and hands to the files that were asked for.
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
  /// `options` outlive it. UsageError where --align names a head that the model does not have.
  LineOutput(const ViewOptions& options, const ModelSummary& model, const DecodeConfig& decode);

  /// Where translations and their alignments go instead of stdout; null: there.
  void print_to(OutputFile* file) { file_ = file; }

  /// From now on a translation that the model holds unlikely is pointed out.
  void enable_confidence_notes() { notes_unsure_ = true; }

  /// What the terminal shows of each record.
  void select(MapSelection selection) { selection_ = std::move(selection); }
  /// From now on the best head is that of this record, so that two show the same one.
  void keep_best_of(const AttentionRecord& record);
  /// The selected maps of a record as text, with a blank line before them where there is room for
  /// it below `lines_above`; empty for a sentence without words.
  std::string maps_text(const AttentionRecord& record, int lines_above) const;
  const std::optional<AlignmentOptions>& alignment() const { return alignment_; }
  bool wants_maps() const;
  bool wants_records() const { return options_.need_records() || wants_maps(); }

  /// `detail` without what a page that has got large leaves out.
  RecordDetail needed(RecordDetail detail) const;

  /// Prints the translations of a line without records, best first.
  void print(const std::vector<LineTranslation>& translations) { print(translations, {}); }

  /// Shows a line's records and adds them to `files`; later, where the head that aligns best is
  /// asked for, which is known after the last line.
  void take(LineRecords records, ViewFiles& files);

  /// Adds what was asked for to both records: links, and figures, which finish_what_ifs() tells.
  void annotate_what_if(WhatIfRecord& record);
  /// After the last experiment: the heads' figures before and after.
  void finish_what_ifs(const std::string& model) const;

  /// Prints an experiment, and the selected maps of both its records.
  void print(const WhatIfRecord& record);
  /// Prints the translations of a line's records, and the selected maps of each.
  void print(const LineRecords& records);

  /// After the last line: what waited, and the figures. Returns what all lines say together, as
  /// JSON; empty where nobody asked.
  std::string finish(const std::string& model, ViewFiles& files);

 private:
  bool wants_figures() const { return options_.report || alignment_.has_value(); }
  bool waits() const;
  void leave_out_of_large_page(LineRecords& records, ViewFiles& files);
  void show(LineRecords& records, ViewFiles& files);
  void print(const std::vector<LineTranslation>& translations, const LineRecords& records);
  /// Says once that two of an n-best list read alike.
  void note_duplicates(const std::vector<LineTranslation>& translations);
  /// Says that the model was unsure of a translation.
  void note_low_confidence(const LineTranslation& best) const;
  void print(const std::string& line) const;
  int printed_lines(const std::vector<LineTranslation>& translations) const;

  const ViewOptions& options_;
  OutputFile* file_ = nullptr;
  DecodeConfig decode_;
  MapSelection selection_;
  std::optional<AlignmentOptions> alignment_;
  HeadStatistics statistics_;
  HeadStatistics changed_;  ///< of experiments, after the change
  std::vector<LineRecords> waiting_;
  bool alike_noted_ = false, notes_unsure_ = false;
  std::size_t vector_bytes_ = 0, search_bytes_ = 0;  ///< of all lines, for the page
};

}  // namespace attn
