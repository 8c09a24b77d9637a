#include "files/view_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/map_selection.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "raster/svg_export.h"
#include "record/json/record_json.h"
#include "service/output_safety.h"
#include "terminal/console.h"
#include "view/data/attention_csv.h"
#include "view/map_labels.h"
#include "view/svg/map/attention_svg.h"
#include "view/svg/search_tree_svg.h"

namespace attn {
namespace {

/// Returns "maps-2-cross.svg" for "maps.svg" and "-2-cross".
std::string with_part(const std::string& path, const std::string& part) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + part + whole.extension().string()))
      .string();
}

/// True if `name` is that of a further picture that belongs to `path`, for another sentence or
/// kind.
bool is_part(const std::filesystem::path& path, const std::filesystem::path& name) {
  const std::string stem = path.stem().string() + "-", other = name.stem().string();
  if (name.extension() != path.extension() || !other.starts_with(stem)) return false;
  const std::string_view part = std::string_view(other).substr(stem.size());
  return part.find_first_of("0123456789") == 0 ||
         std::any_of(attention_sites.begin(), attention_sites.end(),
                     [&](AttentionSite site) { return part.starts_with(site_key(site)); });
}

/// Returns the head to enlarge. For cross-attention without a named head, this is the one that
/// aligns best.
HeadName large_of(const ShowItem& item, const AttentionRecord& record, std::size_t hypothesis) {
  HeadName large = item;
  const bool open = !item.head && item.pick == HeadSelector::all;
  if (open && item.site == AttentionSite::cross) large.pick = HeadSelector::best;
  return resolve_best(large, record, hypothesis);
}

/// Returns the table of a kind's weights.
const CsvTable& weights_table(AttentionSite site) {
  const std::string name = fmt::format("{}.csv", site_key(site));
  const auto tables = csv_tables();
  return *std::ranges::find(tables, name, &CsvTable::file_name);
}

/// Pages, and pictures of relative positions, need more JSON than was requested.
RecordJsonOptions for_json(const ViewOptions& asked) {
  if (asked.html.empty() && !asked.pictures()) return {};
  return {asked.vectors, asked.tree, asked.report, asked.aligns(), asked.why};
}

/// Returns the picture of an item, drawn from `shown`: the record itself, or its words.
std::string picture_of(const ShowItem& item, const AttentionRecord& record,
                       const AttentionRecord& shown, std::size_t hypothesis) {
  const HeadName large = large_of(item, record, hypothesis);
  AttentionSvgOptions choice{large.site, hypothesis, large.layer, large.head};
  const AttentionMaps* maps = find_maps(shown, large.site, hypothesis);
  std::vector<float> mean, exact;
  if (large.pick == HeadSelector::mean && maps != nullptr && !maps->sparse()) {
    mean = mean_weights(*maps, large.layer);
    exact = mean_exact_weights(*maps, large.layer);
    choice.mean = mean;
    choice.exact_mean = exact;
  }
  return attention_svg(shown, choice);
}

std::size_t bytes_of(const std::optional<AttentionVectors>& vectors) {
  if (!vectors) return 0;
  const std::size_t floats =
      vectors->query.values.size() + vectors->key.values.size() + vectors->value.values.size();
  return floats * sizeof(float);
}

std::size_t bytes_of(const std::vector<ResidualStreamState>& residual_stream) {
  std::size_t floats = 0;
  for (const ResidualStreamState& step : residual_stream) floats += step.values.size();
  return floats * sizeof(float);
}

}  // namespace

void clear_vectors(AttentionRecord& record) {
  record.encoder_vectors.reset();
  record.residual_stream.clear();
  for (HypothesisRecord& hypothesis : record.hypotheses) {
    hypothesis.decoder_self_vectors.reset();
    hypothesis.cross_vectors.reset();
    hypothesis.residual_stream.clear();
    if (hypothesis.alternatives) hypothesis.alternatives->logits.clear();
  }
}

std::size_t vector_bytes(const AttentionRecord& record) {
  std::size_t bytes = bytes_of(record.encoder_vectors) + bytes_of(record.residual_stream);
  for (const HypothesisRecord& hypothesis : record.hypotheses) {
    bytes += bytes_of(hypothesis.decoder_self_vectors) + bytes_of(hypothesis.cross_vectors) +
             bytes_of(hypothesis.residual_stream);
  }
  return bytes;
}

std::size_t search_bytes(const AttentionRecord& record) {
  std::size_t floats = 0;
  if (record.search) {
    for (const SearchNode& node : record.search->nodes) {
      floats += node.decoder_self.size() + node.cross.size();
    }
  }
  return floats * sizeof(float);
}

std::size_t receipt_bytes(const AttentionRecord& record) {
  constexpr std::size_t kEntry = 40;  // {"text":"group","value":1.2345678},
  std::size_t entries = 0, cells = 0;
  for (const HypothesisRecord& hypothesis : record.hypotheses) {
    if (!hypothesis.receipts) continue;
    const WordReceipts& all = *hypothesis.receipts;
    for (const MeasuredMaps& maps : {all.encoder_self, all.decoder_self, all.cross}) {
      cells += maps.value.weights.size() + maps.contribution.weights.size();
    }
    for (const WordReceipt& word : all.words) {
      entries += word.logit.source.size() + word.logit.prefix.size();
    }
  }
  return 2 * entries * kEntry + cells * sizeof(float);  // 2: the logit and the contrast
}

namespace {

/// Writes a page and prints notes about it on stderr. `heads` are the statistics over all records;
/// empty: none.
void write_page(const PageContent& content, const std::string& heads, OutputFile& file) {
  const std::string html = content.html(heads);
  note_all(content.notes(html));
  file.write(html);
}

}  // namespace

ViewFiles::ViewFiles(const ViewOptions& options, FileGuard guard, PageDetail page)
    : options_(options), guard_(std::move(guard)), page_(options.html, page) {
  if (options.words) page_.words();
  const std::string csv = normalize_output_path(options.csv);
  const auto table_path = [&](const CsvTable& table) {
    return csv + "/" + std::string(table.file_name);
  };
  guard_.write("--json", options.json);
  guard_.write("--html", options.html);
  guard_.write("--svg", options.svg);
  guard_.write("--png", options.png);
  guard_.write("--pdf", options.pdf);
  if (!options.csv.empty()) {
    for (const CsvTable& table : csv_tables()) guard_.write("--csv", table_path(table));
  }
  guard_parts("--svg", options.svg);
  guard_parts("--png", options.png);
  guard_parts("--pdf", options.pdf);
  if (!options.json.empty()) json_ = std::make_unique<OutputFile>(options.json);
  if (!options.html.empty()) html_ = std::make_unique<OutputFile>(options.html);
  const auto picture = [this](const char* option, const std::string& path, auto made) {
    if (path.empty()) return;
    pictures_.push_back({option, path, std::move(made), std::make_unique<OutputFile>(path), {}});
  };
  const auto scale = static_cast<double>(options.png_scale);
  picture("--svg", options.svg, [](const std::string& svg) { return svg; });
  picture("--png", options.png, [scale](const std::string& svg) { return svg_to_png(svg, scale); });
  picture("--pdf", options.pdf, [](const std::string& svg) { return svg_to_pdf(svg); });
  if (!options.csv.empty()) {
    csv_folder_ =
        for_field<SystemError>("csv", [&] { return std::make_unique<NewDirectories>(csv); });
    for (const CsvTable& table : csv_tables()) {
      tables_.push_back(std::make_unique<OutputFile>(table_path(table)));
      tables_.back()->write(table.header);
    }
  }
}

void ViewFiles::guard_parts(const char* option, const std::string& path) const {
  if (path.empty() || path == "-") return;
  namespace fs = std::filesystem;
  const fs::path whole(path), folder = whole.parent_path();
  std::vector<fs::path> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  for (const std::string* other : options_.files()) names.push_back(fs::path(*other).filename());
  for (const fs::path& name : names) {
    if (is_part(whole, name)) FileGuard(guard_).write(option, (folder / name).string());
  }
}

void ViewFiles::choose(const MapSelection& selection) {
  drawn_.clear();
  for (const AttentionSite site : attention_sites) {
    const auto named = std::find_if(selection.items.begin(), selection.items.end(),
                                    [&](const ShowItem& item) { return item.site == site; });
    if (named != selection.items.end()) {
      drawn_.push_back({*named});
    } else if (selection.all) {
      drawn_.push_back({{site}});
    }
    for (const MapMeasure measure : {MapMeasure::value, MapMeasure::alti}) {
      const auto measured = std::ranges::find_if(selection.measured, [&](const MeasuredItem& item) {
        return item.name.site == site && item.measure == measure;
      });
      if (measured != selection.measured.end()) drawn_.push_back({measured->name, measure});
    }
  }
  if (drawn_.empty()) drawn_.push_back({{AttentionSite::cross}});
  open_measured_tables(selection);
}

void ViewFiles::open_measured_tables(const MapSelection& selection) {
  if (options_.csv.empty() || !measured_tables_.empty()) return;
  for (const MeasuredItem& item : selection.measured) {
    const auto same = [&](const MeasuredTable& table) {
      return table.item.name.site == item.name.site && table.item.measure == item.measure &&
             table.item.per_head() == item.per_head();
    };
    if (std::ranges::any_of(measured_tables_, same)) continue;
    const std::string path =
        fmt::format("{}/{}{}-{}.csv", normalize_output_path(options_.csv), site_key(item.name.site),
                    item.per_head() ? "" : "-layers", measure_key(item.measure));
    guard_.write("--csv", path);
    measured_tables_.push_back({item, std::make_unique<OutputFile>(path)});
    std::string header(weights_table(item.name.site).header);
    header.replace(header.rfind("weight"), std::string_view("weight").size(),
                   measure_key(item.measure));
    measured_tables_.back().file->write(header);
  }
}

void ViewFiles::add(const AttentionRecord& record) {
  if (html_) page_.add(record);
  if (json_) {
    RecordJsonOptions form = for_json(options_);
    const AttentionRecord words =
        options_.words ? merge_record_to_words(record) : AttentionRecord();
    if (options_.words) form.words = &words;
    json_->write(to_json_line(record, form));
  }
  draw(record);
}

void ViewFiles::add(const WhatIfRecord& record, const std::vector<AttentionRecord>& records) {
  if (json_) json_->write(what_if_json(record, for_json(options_)));
  if (html_) {
    for (const AttentionRecord& each : records) page_.add(each);
  }
  draw(record.before);
  draw(record.after);
}

void ViewFiles::draw(const AttentionRecord& record) {
  const bool draws = !pictures_.empty() || !tables_.empty();
  const AttentionRecord words =
      options_.words && draws ? merge_record_to_words(record) : AttentionRecord();
  const AttentionRecord& shown = options_.words ? words : record;
  for (Picture& picture : pictures_) draw(picture, record, shown);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::string rows;
    csv_tables()[i].append(rows, shown, records_);
    tables_[i]->write(rows);
  }
  for (MeasuredTable& table : measured_tables_) {
    const MeasuredRecord measured = measure_(record, table.item, false);
    std::string rows;
    weights_table(table.item.name.site)
        .append(rows, options_.words ? merge_record_to_words(measured.record) : measured.record,
                records_);
    table.file->write(rows);
  }
  ++records_;
}

void ViewFiles::draw(Picture& picture, const AttentionRecord& record,
                     const AttentionRecord& shown) {
  const std::string number = records_ == 0 ? "" : fmt::format("-{}", records_ + 1);
  if (options_.tree) {
    write(picture, number, search_tree_svg(record));
    return;
  }
  for (const Drawn& drawn : drawn_) {
    std::string part = number;
    if (drawn_.size() > 1) part += fmt::format("-{}", site_key(drawn.item.site));
    if (drawn.measure) {
      if (drawn_.size() > 1) part += fmt::format("-{}", measure_key(*drawn.measure));
      draw_measured(picture, record, drawn, part);
    } else {
      write(picture, part, picture_of(drawn.item, record, shown, options_.hypothesis_index()));
    }
  }
}

void ViewFiles::draw_measured(Picture& picture, const AttentionRecord& record, const Drawn& drawn,
                              const std::string& part) {
  const MeasuredItem item{drawn.item, *drawn.measure};
  const std::size_t hypothesis = options_.hypothesis_index();
  const MeasuredRecord measured = measure_(record, item, true);
  const HeadName large = resolve_best(drawn.item, record, hypothesis);
  AttentionSvgOptions choice{large.site, hypothesis, large.layer, large.head};
  choice.measure = item.measure;
  choice.of_layers = !item.per_head();
  choice.largest = measured.largest;
  write(picture, part,
        attention_svg(options_.words ? merge_record_to_words(measured.record) : measured.record,
                      choice));
}

void ViewFiles::write(Picture& picture, const std::string& name_part, const std::string& svg) {
  const std::string bytes = picture.made(svg);
  if (name_part.empty()) {
    picture.first->write(bytes);
    picture.first->commit(picture.written);
    return;
  }
  if (picture.path == "-") {
    throw UsageError(
        "several pictures cannot go to stdout; name a file, and the others are written beside it");
  }
  const std::string path = with_part(picture.path, name_part);
  guard_.write(picture.option, path);
  OutputFile file(path);
  file.write(bytes);
  file.commit(picture.written);
}

void ViewFiles::finish(const std::string& heads) {
  if (html_) write_page(page_, records_ > 1 ? heads : "", *html_);
  if (json_ && options_.report) json_->write(heads);
  if (html_) html_->commit();
  if (json_) json_->commit();
  WrittenFiles written;
  for (const std::unique_ptr<OutputFile>& table : tables_) table->commit(written);
  for (const MeasuredTable& table : measured_tables_) table.file->commit(written);
  if (csv_folder_) csv_folder_->keep();
  written.print_note();
  for (const Picture& picture : pictures_) picture.written.print_note();
}

}  // namespace attn
