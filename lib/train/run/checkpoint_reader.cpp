#include "train/run/checkpoint_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie");

/// Opens a regular file (anything else could make open or read wait) and states its size.
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
  read(out, to_size(count) * sizeof(float));  // fits: check_sizes saw it
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
