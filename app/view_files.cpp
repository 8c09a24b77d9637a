#include "view_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/shown_maps.h"
#include "arguments.h"
#include "base/error.h"
#include "base/utf8.h"
#include "console.h"
#include "raster/svg_pdf.h"
#include "raster/svg_png.h"
#include "view/data/attention_csv.h"
#include "view/data/json_record.h"
#include "view/data/what_if_json.h"
#include "view/map_view.h"
#include "view/svg/attention_svg.h"
#include "view/svg/search_tree_svg.h"

namespace attn {
namespace {

/// "maps.svg" and "-2-cross" make "maps-2-cross.svg".
std::string with_part(const std::string& path, const std::string& part) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + part + whole.extension().string()))
      .string();
}

/// What is drawn large: where no head is named, of cross-attention the one that aligns best.
HeadName large_of(const ShowItem& item, const AttentionRecord& record, std::size_t hypothesis) {
  HeadName large = item;
  const bool open = !item.head && item.pick == HeadPick::all;
  if (open && item.kind == AttentionKind::cross) large.pick = HeadPick::best;
  return resolve_best(large, record, hypothesis);
}

/// The picture of an item.
std::string picture_of(const ShowItem& item, const AttentionRecord& record,
                       std::size_t hypothesis) {
  const HeadName large = large_of(item, record, hypothesis);
  MapChoice choice{large.kind, hypothesis, large.layer, large.head};
  const AttentionMaps* maps = find_maps(record, large.kind, hypothesis);
  std::vector<float> mean;
  if (large.pick == HeadPick::mean && maps != nullptr) {
    mean = mean_weights(*maps, large.layer);
    choice.mean = mean;
  }
  return attention_svg(record, choice);
}

}  // namespace

ViewFiles::ViewFiles(const ViewOptions& options, FileGuard guard)
    : options_(options),
      guard_(std::move(guard)),
      page_(options.html, {.vectors = options.vectors, .search = options.tree}) {
  const auto table_path = [&](const CsvTable& table) {
    return options.csv + "/" + std::string(table.file_name);
  };
  guard_.write("--json", options.json);
  guard_.write("--html", options.html);
  guard_.write("--svg", options.svg);
  guard_.write("--png", options.png);
  guard_.write("--pdf", options.pdf);
  if (!options.csv.empty()) {
    for (const CsvTable& table : csv_tables()) guard_.write("--csv", table_path(table));
  }
  if (!options.json.empty()) json_ = std::make_unique<OutputFile>(options.json);
  if (!options.html.empty()) html_ = std::make_unique<OutputFile>(options.html);
  const auto picture = [this](const char* option, const std::string& path, auto made) {
    if (path.empty()) return;
    pictures_.push_back({option, path, std::move(made), std::make_unique<OutputFile>(path), {}});
  };
  const auto scale = static_cast<double>(
      parse_decimal("--png-scale", options.png_scale, smallest_png_scale, largest_png_scale));
  picture("--svg", options.svg, [](const std::string& svg) { return svg; });
  picture("--png", options.png, [scale](const std::string& svg) { return svg_to_png(svg, scale); });
  picture("--pdf", options.pdf, [](const std::string& svg) { return svg_to_pdf(svg); });
  if (!options.csv.empty()) {
    csv_folder_ =
        for_option<SystemError>("--csv", [&] { return std::make_unique<NewFolders>(options.csv); });
    for (const CsvTable& table : csv_tables()) {
      tables_.push_back(std::make_unique<OutputFile>(table_path(table)));
      tables_.back()->write(table.header);
    }
  }
}

void ViewFiles::choose(const ShowSelection& selection) {
  for (const AttentionKind kind : attention_kinds) {
    const auto named = std::find_if(selection.items.begin(), selection.items.end(),
                                    [&](const ShowItem& item) { return item.kind == kind; });
    if (named != selection.items.end()) {
      drawn_.push_back(*named);
    } else if (selection.all) {
      drawn_.push_back({kind});
    }
  }
  if (drawn_.empty()) drawn_.push_back({AttentionKind::cross});
}

void ViewFiles::add(const AttentionRecord& record) {
  if (json_ || html_) {
    const std::string line = to_json_line(record);
    if (json_) json_->write(line);
    if (html_) page_.add(line);
  }
  draw(record);
}

void ViewFiles::add(const WhatIfRecord& record, const std::vector<AttentionRecord>& records) {
  if (json_) json_->write(what_if_json(record));
  if (html_) {
    for (const AttentionRecord& each : records) page_.add(to_json_line(each));
  }
  draw(record.before);
  draw(record.after);
}

void ViewFiles::draw(const AttentionRecord& record) {
  for (Picture& picture : pictures_) draw(picture, record);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::string rows;
    csv_tables()[i].append(rows, record, records_);
    tables_[i]->write(rows);
  }
  ++records_;
}

void ViewFiles::draw(Picture& picture, const AttentionRecord& record) {
  const std::string number = records_ == 0 ? "" : fmt::format("-{}", records_ + 1);
  if (options_.tree) {
    write(picture, number, search_tree_svg(record));
    return;
  }
  for (const ShowItem& item : drawn_) {
    const std::string kind = drawn_.size() == 1 ? "" : fmt::format("-{}", kind_word(item.kind));
    write(picture, number + kind, picture_of(item, record, options_.hypothesis_index()));
  }
}

void ViewFiles::write(Picture& picture, const std::string& name_part, const std::string& svg) {
  const std::string bytes = picture.made(svg);
  if (name_part.empty()) {
    picture.first->write(bytes);
    picture.first->commit(picture.written);
    return;
  }
  if (picture.path == "-") {
    throw UsageError("several pictures do not go to stdout; name a file, which the others join");
  }
  const std::string path = with_part(picture.path, name_part);
  guard_.write(picture.option, path);
  OutputFile file(path);
  file.write(bytes);
  file.commit(picture.written);
}

void ViewFiles::finish(const std::string& heads) {
  if (html_) page_.write(*html_, records_ > 1 ? heads : "");
  if (json_ && options_.report) json_->write(heads);
  if (html_) html_->commit();
  if (json_) json_->commit();
  WrittenFiles written;
  for (const std::unique_ptr<OutputFile>& table : tables_) table->commit(written);
  if (csv_folder_) csv_folder_->keep();
  written.tell();
  for (const Picture& picture : pictures_) picture.written.tell();
}

}  // namespace attn
