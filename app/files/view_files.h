// The files that translate's records go to: JSON, pictures, tables, a page.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/files/temporary_path.h"
#include "commands/view_options.h"
#include "files/output_file.h"
#include "record/attention_record.h"
#include "service/html_pages.h"
#include "service/output_safety.h"

namespace attn {

/// Queries, keys and values, and what lies between the layers.
void clear_vectors(AttentionRecord& record);
std::size_t vector_bytes(const AttentionRecord& record);
std::size_t search_bytes(const AttentionRecord& record);

/// Every file that was asked for. Those whose names are known are opened at once, so that a folder
/// that is missing is said before the work and not after it.
class ViewFiles {
 public:
  /// UsageError where one of them is an input of `guard`, or where two are the same.
  /// `page` is what the page was asked to hold (PageContent).
  ViewFiles(const ViewOptions& options, FileGuard guard, PageDetail page);

  /// What --show names decides which heads are drawn; call it before the first
  /// record; the last call counts.
  void choose(const MapSelection& selection);

  void add(const AttentionRecord& record);
  PageContent& page() { return page_; }
  /// PageContent::exclude().
  void exclude_from_page(PageDetail detail) { page_.exclude(detail); }
  /// An experiment: its `records` (what_if_records) make the page, and before and after everything
  /// else.
  void add(const WhatIfRecord& record, const std::vector<AttentionRecord>& records);

  /// After the last record: writes what needs all of them, and puts every file in its place.
  /// `heads` are the figures over all sentences, as JSON; empty: none.
  void finish(const std::string& heads);

 private:
  struct Picture {
    std::string option;
    std::string path;                                     ///< of the first
    std::function<std::string(const std::string&)> made;  ///< its bytes, from the SVG
    std::unique_ptr<OutputFile> first;
    WrittenFiles written;
  };

  void draw(const AttentionRecord& record);
  /// UsageError where one of several pictures could take an input's or another output's place.
  void guard_parts(const char* option, const std::string& path) const;
  void draw(Picture& picture, const AttentionRecord& record);
  void write(Picture& picture, const std::string& name_part, const std::string& svg);

  const ViewOptions& options_;
  FileGuard guard_;
  std::unique_ptr<OutputFile> json_;
  std::unique_ptr<OutputFile> html_;
  std::vector<Picture> pictures_;
  std::unique_ptr<NewDirectories> csv_folder_;  ///< goes after the tables, where they are not kept
  std::vector<std::unique_ptr<OutputFile>> tables_;
  std::vector<ShowItem> drawn_;  ///< one a kind
  PageContent page_;
  std::size_t records_ = 0;
};

}  // namespace attn
