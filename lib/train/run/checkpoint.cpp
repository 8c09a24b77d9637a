#include "train/run/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/excerpt.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"
#include "train/run/checkpoint_reader.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::uint64_t update) {
  return fmt::format("checkpoint-{:09}", update);
}

/// The update of a checkpoint's name; nothing for other names.
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

/// Empty where the folder is missing.
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

/// Removes what is not needed once the checkpoint of `update` is on the disk. What cannot be
/// removed harms nothing.
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
  parse_json(header, "state");  // what cannot be read back must not replace an older checkpoint
  return header;
}

void make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0777) == 0) return sync_directory_of(folder);
  if (errno != EEXIST) throw_system_error(folder, "cannot make the folder", errno);
}

/// The header of a whole checkpoint; throws DamagedCheckpoint.
CheckpointHeader verified_header(const std::string& path, std::uint64_t update) {
  CheckpointReader reader(path);
  reader.skip_arrays();
  reader.finish();
  if (reader.header().update != update) {
    throw DamagedCheckpoint{
        fmt::format("it is of update {}, expected that of its name", reader.header().update)};
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
    // In small pieces: each is hashed and then written while it lies in the cache.
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
      damages.push_back(
          fmt::format("{}: damaged: {}; passed over", printable(path), damage.reason));
    }
  }
  if (damages.empty()) return std::nullopt;
  throw InputError(
      "{}: found only damaged checkpoints ({}), expected a whole one; train afresh into another "
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
    throw InputError("{}: damaged: {}; it was changed after it was checked",
                     printable(checkpoint.path), damage.reason);
  }
}

}  // namespace attn
