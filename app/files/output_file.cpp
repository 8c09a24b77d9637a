#include "files/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"

namespace attn {
namespace {

/// The format that an option writes, and its file extensions in lower case.
struct FileKind {
  std::string_view option;
  std::string_view kind;
  std::string_view ends;  ///< each followed by a space
};
constexpr std::array<FileKind, 9> kFileKinds = {{
    {"--json", "JSON", ".json .jsonl .ndjson "},
    {"--html", "HTML", ".html .htm "},
    {"--alone", "HTML", ".html .htm "},
    {"--svg", "SVG", ".svg "},
    {"--png", "PNG", ".png "},
    {"--pdf", "PDF", ".pdf "},
    {"--csv", "CSV", ".csv .tsv "},
    {"--markdown", "Markdown", ".md .markdown "},
    {"--output", "plain text", ".txt "},
}};
/// Formats that no option writes.
constexpr std::string_view kOtherEnds =
    ".jpg .jpeg .gif .webp .bmp .tif .tiff .eps .ps .tex .doc .docx .odt .ppt .pptx .xls .xlsx "
    ".zip .gz ";

/// Returns ".svg" for "Maps.SVG"; empty if there is no extension or it contains a space.
std::string end_of(const std::string& path) {
  std::string end = std::filesystem::path(path).extension().string();
  std::transform(end.begin(), end.end(), end.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return end.find(' ') == std::string::npos ? end : "";
}

constexpr std::size_t most_with_size = 6;  // individually listed files per line
constexpr std::size_t most_in_braces = 20;
constexpr std::size_t first_in_braces = 4;

/// Abbreviates paths that differ in the middle like a shell: "m{,-2,-3}.svg".
std::string in_braces(std::vector<std::string> paths) {
  std::string start = paths.front();
  for (const std::string& path : paths) {
    const auto [end, other] = std::mismatch(start.begin(), start.end(), path.begin(), path.end());
    start.erase(end, start.end());
  }
  const std::string end = paths.front().substr(paths.front().size() - end_of(paths.front()).size());
  for (std::string& path : paths)
    path = path.substr(start.size(), path.size() - start.size() - end.size());
  if (paths.size() > most_in_braces) {
    paths.erase(paths.begin() + first_in_braces, paths.end() - 1);
    paths.insert(paths.end() - 1, "…");
  }
  return fmt::format("{}{{{}}}{}", start, fmt::join(paths, ","), end);
}

bool lists(std::string_view ends, const std::string& end) {
  return ends.find(end + " ") != std::string_view::npos;
}

}  // namespace

void WrittenFiles::add(const std::string& path, std::size_t bytes) {
  files_.push_back({printable(path), bytes});
}

void WrittenFiles::print_note() const {
  if (files_.empty()) return;
  std::size_t bytes = 0;
  std::vector<std::string> paths, each;
  for (const File& file : files_) {
    bytes += file.bytes;
    paths.push_back(file.path);
    each.push_back(fmt::format("{} ({})", file.path, human_bytes(static_cast<double>(file.bytes))));
  }
  if (files_.size() <= most_with_size) {
    note(fmt::format("wrote {}", fmt::join(each, ", ")));
  } else {
    note(fmt::format("wrote {} ({} files, {})", in_braces(paths), paths.size(),
                     human_bytes(static_cast<double>(bytes))));
  }
}

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(path == "-" ? nullptr : std::make_unique<AtomicFile>(path)) {
  if (file_) output().outlive_reader();
}

void OutputFile::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (file_) {
    file_->write(bytes);
  } else {
    output().write(bytes);
  }
}

void OutputFile::commit(WrittenFiles& together) {
  if (!file_) return;
  file_->commit();
  // The file may have gone to stderr.
  if (!is_stream_path(path_)) together.add(path_, bytes_);
}

void OutputFile::commit() {
  WrittenFiles alone;
  commit(alone);
  alone.print_note();
}

void write_output(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

void check_file_name(std::string_view option, const std::string& path,
                     const std::vector<std::string>& options) {
  const auto own = std::find_if(kFileKinds.begin(), kFileKinds.end(),
                                [&](const FileKind& kind) { return kind.option == option; });
  const std::string end = end_of(path);
  if (own == kFileKinds.end() || end.empty() || path == "-") return;
  constexpr int kMostColumns = 100;  // the message names the file twice
  const std::string shown = excerpt(path, kMostColumns);
  const std::string stem = excerpt(path.substr(0, path.size() - end.size()), kMostColumns);
  // A command that does not choose among maps (inspect, why) writes a single table.
  const bool maps = std::find(options.begin(), options.end(), "--show") != options.end();
  if (option == "--csv" && maps) {
    if (!lists(own->ends, end)) return;
    throw UsageError("--csv {}: expected a directory, since there are five tables; try --csv {}",
                     shown, stem);
  }
  if (lists(own->ends, end)) return;
  const auto other = std::find_if(kFileKinds.begin(), kFileKinds.end(),
                                  [&](const FileKind& kind) { return lists(kind.ends, end); });
  if (other == kFileKinds.end() && !lists(kOtherEnds, end)) return;
  const bool offered = option != "--alone" && other != kFileKinds.end() &&
                       other->option != "--csv" &&
                       std::find(options.begin(), options.end(), other->option) != options.end();
  const std::string there =
      offered ? fmt::format("{} {} writes {}", other->option, shown, other->kind)
              : fmt::format("try {} {}{}", option, stem, own->ends.substr(0, own->ends.find(' ')));
  throw UsageError("{} {}: the option writes {}, but the name ends in {}; {}", option, shown,
                   own->kind, end, there);
}

}  // namespace attn
