// The files for translate's records: JSON, pictures, tables, a page.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/map_selection.h"
#include "base/files/files.h"
#include "base/files/temporary_path.h"
#include "commands/view_options.h"
#include "files/output_file.h"
#include "record/attention_record.h"
#include "service/html_pages.h"
#include "service/output_safety.h"

namespace attn {

/// Removes queries, keys and values and the values between layers.
void clear_vectors(AttentionRecord& record);
std::size_t vector_bytes(const AttentionRecord& record);
std::size_t search_bytes(const AttentionRecord& record);
/// The bytes of receipts as JSON, roughly.
std::size_t receipt_bytes(const AttentionRecord& record);

/// Returns a record's maps of a measure; lengths are divided by the largest one if `scaled`.
using MeasureRecord =
    std::function<MeasuredRecord(const AttentionRecord&, const MeasuredItem&, bool scaled)>;

/// All requested files. Files with known names are opened at once, so that a missing folder is
/// reported before the work begins.
class ViewFiles {
 public:
  /// Throws UsageError if a file is an input of `guard` or two files are the same. `page` is the
  /// requested content of the page (PageContent).
  ViewFiles(const ViewOptions& options, FileGuard guard, PageDetail page);

  /// Selects the heads to draw, as --show does. Call this before the first record; the last call
  /// counts.
  void choose(const MapSelection& selection);
  /// Computes the maps of measures that are selected; call this before the first record.
  void measure_with(MeasureRecord measure) { measure_ = std::move(measure); }

  void add(const AttentionRecord& record);
  PageContent& page() { return page_; }
  /// Calls PageContent::exclude().
  void exclude_from_page(PageDetail detail) { page_.exclude(detail); }
  /// Adds an experiment: `records` (what_if_records) form the page, and before and after all other
  /// files.
  void add(const WhatIfRecord& record, const std::vector<AttentionRecord>& records);

  /// Call after the last record: writes files that need all records, and moves every file into
  /// place. `heads` are the statistics over all sentences, as JSON; empty: none.
  void finish(const std::string& heads);

 private:
  struct Picture {
    std::string option;
    std::string path;                                     ///< of the first one
    std::function<std::string(const std::string&)> made;  ///< converts the SVG to the file's bytes
    std::unique_ptr<OutputFile> first;
    WrittenFiles written;
  };

  /// A kind of maps to draw: heads, or a measure of them.
  struct Drawn {
    ShowItem item;
    std::optional<MapMeasure> measure = {};
  };
  /// A table of a measure of one kind.
  struct MeasuredTable {
    MeasuredItem item;
    std::unique_ptr<OutputFile> file;
  };

  void open_measured_tables(const MapSelection& selection);
  /// Draws the measured maps of a record.
  void draw_measured(Picture& picture, const AttentionRecord& record, const Drawn& drawn,
                     const std::string& part);
  void draw(const AttentionRecord& record);
  /// Throws UsageError if one of several pictures could overwrite an input or another output.
  void guard_parts(const char* option, const std::string& path) const;
  /// Draws `shown`, which is the record or its words.
  void draw(Picture& picture, const AttentionRecord& record, const AttentionRecord& shown);
  void write(Picture& picture, const std::string& name_part, const std::string& svg);

  const ViewOptions& options_;
  FileGuard guard_;
  std::unique_ptr<OutputFile> json_;
  std::unique_ptr<OutputFile> html_;
  std::vector<Picture> pictures_;
  std::unique_ptr<NewDirectories> csv_folder_;  ///< removed after the tables unless they are kept
  std::vector<std::unique_ptr<OutputFile>> tables_;
  std::vector<MeasuredTable> measured_tables_;
  std::vector<Drawn> drawn_;  ///< one per kind and measure
  MeasureRecord measure_;
  PageContent page_;
  std::size_t records_ = 0;
};

}  // namespace attn
