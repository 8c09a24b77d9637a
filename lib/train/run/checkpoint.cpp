#include "train/run/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::uint64_t update) {
  return fmt::format("checkpoint-{:09}", update);
}

/// Parses the update number from a checkpoint's name; returns nothing for other names.
std::optional<std::uint64_t> update_of(std::string_view name) {
  constexpr std::string_view kStart = "checkpoint-";
  if (!name.starts_with(kStart)) return std::nullopt;
  std::uint64_t update = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kStart.size(), end, update);
  if (error != std::errc() || stop != end || name != name_of(update)) return std::nullopt;
  return update;
}

struct CheckpointFolder {
  std::map<std::uint64_t, std::string> checkpoints;  ///< update to path, oldest first
  std::vector<std::string> leftovers;                ///< temporary files of a killed run
};

/// Lists the folder's checkpoints; empty if the folder does not exist.
CheckpointFolder list_checkpoints(const std::string& folder) {
  CheckpointFolder content;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error == std::errc::no_such_file_or_directory) return content;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    const std::string path = folder + "/" + name;
    if (const auto update = update_of(name)) content.checkpoints[*update] = path;
    if (update_of(target_of_temporary(name))) content.leftovers.push_back(path);
  }
  if (error) throw_system_error(folder, "cannot read the folder", error.value());
  return content;
}

/// Removes files that are obsolete once the checkpoint of `update` is on disk. Files that cannot be
/// removed do no harm.
void remove_old_checkpoints(const std::string& folder, std::uint64_t update) try {
  const CheckpointFolder content = list_checkpoints(folder);
  for (const std::string& path : content.leftovers) remove_abandoned(path);
  const auto own = content.checkpoints.find(update);
  if (own == content.checkpoints.end()) return;
  const auto older = own == content.checkpoints.begin() ? own : std::prev(own);
  for (auto entry = content.checkpoints.begin(); entry != content.checkpoints.end(); ++entry) {
    if (entry != own && entry != older) unlink(entry->second.c_str());
  }
} catch (const SystemError&) {
}

std::string make_header(std::uint64_t update, const Json& state,
                        const std::vector<CheckpointArray>& arrays) {
  if (!state.is_object()) throw std::logic_error("a checkpoint's state is an object");
  std::set<std::string_view> names;
  Json list = Json::array();
  for (const CheckpointArray& array : arrays) {
    if (array.name.empty() || !names.insert(array.name).second) {
      throw std::logic_error("a checkpoint's array without a name of its own: " + array.name);
    }
    list.push_back({array.name, array.values.size()});
  }
  std::string header = Json{{"update", update}, {"state", state}, {"arrays", list}}.dump();
  parse_json(header, "state");  // an unreadable state must not replace an older checkpoint
  return header;
}

void make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0777) == 0) return sync_directory_of(folder);
  if (errno != EEXIST) throw_system_error(folder, "cannot make the folder", errno);
}

/// Returns the header of an intact checkpoint; throws DamagedCheckpoint otherwise.
CheckpointHeader verified_header(const std::string& path, std::uint64_t update) {
  CheckpointReader reader(path);
  reader.skip_arrays();
  reader.finish();
  if (reader.header().update != update) {
    throw DamagedCheckpoint{fmt::format("it belongs to update {}, expected the update in its name",
                                        reader.header().update)};
  }
  return reader.header();
}

void check_arrays(const CheckpointInfo& checkpoint, const CheckpointHeader& header,
                  const std::vector<CheckpointArray>& arrays) {
  const std::string where = printable(checkpoint.path);
  if (header.arrays.size() != arrays.size()) {
    throw InputError("{}: found {} arrays, expected {}; it belongs to another model", where,
                     header.arrays.size(), arrays.size());
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [name, size] = header.arrays[i];
    if (name != arrays[i].name || size != arrays[i].values.size()) {
      throw InputError(
          "{}: array {} is '{}' with {} numbers, expected '{}' with {}; it belongs to "
          "another model",
          where, i, excerpt(name), size, excerpt(arrays[i].name), arrays[i].values.size());
    }
  }
}

}  // namespace

void write_checkpoint(const std::string& folder, std::uint64_t update, const Json& state,
                      const std::vector<CheckpointArray>& arrays) {
  const std::string header = make_header(update, state, arrays);
  make_folder(folder);
  AtomicFile file(folder + "/" + name_of(update));
  Sha256 sum;
  const auto write = [&](const void* data, std::size_t size) {
    // Write in small chunks, so that each is still in cache after it has been hashed.
    std::string_view bytes(static_cast<const char*>(data), size);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kCheckpointChunk))) {
      const std::string_view piece = bytes.substr(0, kCheckpointChunk);
      sum.update(piece);
      file.write(piece);
    }
  };
  write(kCheckpointMagic.data(), kCheckpointMagic.size());
  write(kCheckpointVersion.data(), kCheckpointVersion.size());
  const std::uint64_t length = header.size();
  write(&length, sizeof length);
  write(header.data(), header.size());
  for (const CheckpointArray& array : arrays) {
    write(array.values.data(), array.values.size_bytes());
  }
  file.write(sum.hex());
  file.commit();
  remove_old_checkpoints(folder, update);
}

std::optional<CheckpointInfo> newest_checkpoint(const std::string& folder,
                                                std::vector<std::string>& notes) {
  const CheckpointFolder content = list_checkpoints(folder);
  std::vector<std::string> damages;
  for (auto entry = content.checkpoints.rbegin(); entry != content.checkpoints.rend(); ++entry) {
    const auto& [update, path] = *entry;
    try {
      CheckpointHeader header = verified_header(path, update);
      notes.insert(notes.end(), damages.begin(), damages.end());
      return CheckpointInfo{path, update, std::move(header.state)};
    } catch (const DamagedCheckpoint& damage) {
      damages.push_back(fmt::format("{}: damaged: {}; skipped", printable(path), damage.reason));
    }
  }
  if (damages.empty()) return std::nullopt;
  throw InputError(
      "{}: found only damaged checkpoints ({}), expected a complete one; train again into another "
      "folder",
      printable(folder), damages.front());
}

void read_arrays(const CheckpointInfo& checkpoint, const std::vector<CheckpointArray>& arrays) {
  try {
    CheckpointReader reader(checkpoint.path);
    check_arrays(checkpoint, reader.header(), arrays);
    for (const CheckpointArray& array : arrays) {
      reader.read_floats(array.values.data(), array.values.size());
    }
    reader.finish();
  } catch (const DamagedCheckpoint& damage) {
    throw InputError("{}: damaged: {}; it has changed since it was checked",
                     printable(checkpoint.path), damage.reason);
  }
}

namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie");

/// Opens a regular file and returns its size; anything else could block open() or read().
FileDescriptor open_regular(const std::string& path, std::uint64_t& size) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw DamagedCheckpoint{"found no regular file"};
  }
  FileDescriptor file(open_to_read(path, status));
  size = to_size(status.st_size);
  return file;
}

CheckpointHeader parse_header(const std::string& text) {
  Json json;
  try {
    json = parse_json(text, "header");
  } catch (const InputError& error) {
    throw DamagedCheckpoint{error.what()};
  }
  const auto require = [](bool good, const char* expected) {
    if (!good)
      throw DamagedCheckpoint{fmt::format("the header is not right, expected {}", expected)};
  };
  require(json.is_object() && json.size() == 3 && json.contains("update") &&
              json.contains("state") && json.contains("arrays"),
          "an object of update, state and arrays");
  require(json["update"].is_number_unsigned(), "the update as a whole number");
  require(json["state"].is_object(), "the state as an object");
  require(json["arrays"].is_array(), "the arrays as a list");
  CheckpointHeader header;
  header.update = json["update"].get<std::uint64_t>();
  header.state = std::move(json["state"]);
  for (const Json& array : json["arrays"]) {
    require(array.is_array() && array.size() == 2 && array[0].is_string() &&
                array[1].is_number_unsigned(),
            "each array as name and size");
    header.arrays.emplace_back(array[0].get<std::string>(), array[1].get<std::uint64_t>());
  }
  return header;
}

}  // namespace

CheckpointReader::CheckpointReader(const std::string& path)
    : path_(path), file_(open_regular(path, size_)) {
  char magic[kCheckpointMagic.size() + kCheckpointVersion.size()];
  std::uint64_t length = 0;
  constexpr std::uint64_t kFixed = sizeof magic + sizeof length + kCheckpointDigest;
  if (size_ < kFixed) {
    throw DamagedCheckpoint{fmt::format("found {} bytes, expected at least {}", size_, kFixed)};
  }
  read(magic, sizeof magic);
  const std::string_view kind(magic, sizeof magic);
  if (!kind.starts_with(kCheckpointMagic)) {
    throw DamagedCheckpoint{"it does not begin as a checkpoint does"};
  }
  if (!kind.ends_with(kCheckpointVersion)) {
    throw DamagedCheckpoint{"its version of the layout is not 1"};
  }
  read(&length, sizeof length);
  if (length > size_ - kFixed || length > JsonLimits{}.max_bytes) {
    throw DamagedCheckpoint{
        fmt::format("found a header of {} bytes in a file of {}", length, size_)};
  }
  std::string text(length, '\0');
  read(text.data(), text.size());
  header_ = parse_header(text);
  check_sizes(size_ - kFixed - length);
}

void CheckpointReader::check_sizes(std::uint64_t found) const {
  std::optional<std::uint64_t> expected = 0;
  for (const auto& [name, count] : header_.arrays) {
    const auto bytes = checked_multiply(count, sizeof(float));
    expected = bytes && expected ? checked_add(*expected, *bytes) : std::nullopt;
  }
  if (expected != found) {
    throw DamagedCheckpoint{
        fmt::format("found {} bytes of arrays, expected {}", found,
                    expected ? fmt::format("{}", *expected) : "more than a file can hold")};
  }
}

void CheckpointReader::read(void* out, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    char* piece = static_cast<char*>(out) + done;
    const std::size_t wanted = std::min(size - done, kCheckpointChunk);
    if (read_up_to(file_.number(), piece, wanted, path_) < wanted) {
      throw DamagedCheckpoint{"it became shorter while it was read"};
    }
    sum_.update({piece, wanted});
    done += wanted;
  }
}

void CheckpointReader::read_floats(float* out, std::uint64_t count) {
  read(out, to_size(count) * sizeof(float));  // fits, as check_sizes() has verified
}

void CheckpointReader::skip_arrays() {
  std::vector<float> piece(kCheckpointChunk / sizeof(float));
  for (const auto& [name, count] : header_.arrays) {
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t wanted = std::min<std::uint64_t>(count - done, piece.size());
      read_floats(piece.data(), wanted);
      done += wanted;
    }
  }
}

void CheckpointReader::finish() {
  const std::string expected = sum_.hex();
  char found[kCheckpointDigest];
  read(found, sizeof found);
  if (std::string_view(found, sizeof found) != expected) {
    throw DamagedCheckpoint{"its checksum does not fit its content"};
  }
}

}  // namespace attn
