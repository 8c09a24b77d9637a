#include "train/run/training_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <tuple>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Cuts an open file back to `keep` bytes, which must be there and end a line.
void cut_back(int descriptor, const std::string& path, std::uint64_t size, std::uint64_t keep) {
  char last = '\n';
  if (keep > 0 && keep <= size && pread(descriptor, &last, 1, to_index(keep - 1)) != 1) {
    throw_system_error(path, "cannot read", errno);
  }
  if (keep > size || last != '\n') {
    throw InputError(
        "{}: found {} bytes{}, expected a line's end at byte {}: it was changed since the "
        "checkpoint; train afresh into another folder",
        printable(path), size, keep > size ? "" : " and another line there", keep);
  }
  if (size > keep && ftruncate(descriptor, to_index(keep)) != 0) {
    throw_system_error(path, "cannot cut back", errno);
  }
}

}  // namespace

AppendOnlyFile::AppendOnlyFile(const std::string& path, std::uint64_t keep_bytes) : path_(path) {
  FileDescriptor file(open_descriptor(path, O_RDWR | O_CREAT | O_APPEND, 0666));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    throw_system_error(path, "cannot open for writing", errno);
  }
  regular_ = S_ISREG(status.st_mode);
  if (regular_) {
    cut_back(file.number(), path, to_size(status.st_size), keep_bytes);
    bytes_ = keep_bytes;
    sync_directory_of(path);
  }
  descriptor_ = file.release();
}

AppendOnlyFile::~AppendOnlyFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void AppendOnlyFile::append(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  try {
    write_all(descriptor_, bytes, path_);
  } catch (const SystemError&) {
    // Where the part that is there cannot be taken back, a resumed run cuts it off.
    if (regular_) std::ignore = ftruncate(descriptor_, to_index(bytes_));
    throw;
  }
  if (regular_) bytes_ += bytes.size();
}

void AppendOnlyFile::sync() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) {
    throw_system_error(path_, "cannot write", errno);
  }
}

namespace {

double number_or_nan(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::numeric_limits<double>::quiet_NaN();
  return found->get<double>();
}

void add_line(const Json& line, const std::string& where, TrainingCurve& curve) {
  const auto event = line.find("event");
  if (event == line.end() || !event->is_string()) return;
  const bool train = *event == "train";
  if (!train && *event != "validation" && *event != "early") return;
  const auto update = line.find("update");
  if (update == line.end() || !update->is_number_unsigned()) {
    throw InputError("{}: found no whole number as \"update\", expected one in this event", where);
  }
  const auto at = update->get<std::uint64_t>();
  if (train) {
    curve.train.push_back({at, number_or_nan(line, "loss")});
    return;
  }
  curve.validations.push_back(
      {at, number_or_nan(line, "loss"), number_or_nan(line, "bleu"), number_or_nan(line, "chrf")});
  const auto best = line.find("best");
  if (best != line.end() && *best == true) curve.best_update = at;
}

}  // namespace

TrainingCurve read_curve(const std::string& path) {
  if (!file_exists(path) && !directory_exists(path)) return {};
  return parse_curve(read_file(path), path);
}

TrainingCurve parse_curve(std::string_view content, const std::string& path) {
  TrainingCurve curve;
  std::size_t number = 0;
  for (std::size_t start = 0; start < content.size();) {
    const std::size_t end = std::min(content.find('\n', start), content.size());
    const std::string where = fmt::format("{}: line {}", printable(path), ++number);
    Json line;
    try {
      line = parse_json(content.substr(start, end - start), where);
    } catch (const InputError&) {
    }
    if (!line.is_object()) {
      throw InputError("{}: found no whole JSON object, expected one on each line", where);
    }
    add_line(line, where, curve);
    start = end + 1;
  }
  return curve;
}

}  // namespace attn
