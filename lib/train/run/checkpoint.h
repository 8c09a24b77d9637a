// Checkpoints: the full state of a training run, written so that a crash at any moment leaves an
// intact one.
//
// A checkpoint file holds, in this order:
//  "attn-demo checkpoint 1\n"   the kind of file and the version of its layout
//  8 bytes                      the header's length, little-endian
//  header                       JSON: {"update": N, "state": {…}, "arrays": [["name", size], …]}
//  the arrays' floats           little-endian, in the header's order
//  64 hexadecimal digits        SHA-256 of everything before
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/descriptor.h"
#include "base/json.h"
#include "base/strings/sha256.h"

namespace attn {

/// A named array in a checkpoint: weights, moments or averages.
struct CheckpointArray {
  std::string name;
  std::span<float> values;
};

/// The contents of a checkpoint except for its arrays.
struct CheckpointInfo {
  std::string path;
  std::uint64_t update = 0;
  Json state;  ///< an object, defined by the trainer
};

/// Writes folder/checkpoint-UPDATE (nine digits, so that names sort) atomically: temporary file,
/// fsync, rename, fsync of the folder, which is created if missing. Then removes all checkpoints
/// but this one and the previous one, damaged ones of later updates (the run was resumed from
/// before them), and temporary files of killed runs. Array names must be distinct and not empty.
/// Throws SystemError if the system refuses (disk full): older checkpoints are then intact and no
/// temporary file is left.
void write_checkpoint(const std::string& folder, std::uint64_t update, const Json& state,
                      const std::vector<CheckpointArray>& arrays);

/// Returns the newest intact checkpoint after verifying its checksum, or nothing if the folder is
/// missing or holds none. Skips damaged newer ones with a sentence in `notes`. Throws InputError if
/// there are checkpoints but all are damaged, and SystemError if one cannot be read.
std::optional<CheckpointInfo> newest_checkpoint(const std::string& folder,
                                                std::vector<std::string>& notes);

/// Fills `arrays` from the checkpoint. Throws InputError naming the file if the number of arrays, a
/// name (the order matters) or a size differs, in which case nothing was filled, or if the file is
/// damaged by now, in which case the filled numbers must not be used.
void read_arrays(const CheckpointInfo& checkpoint, const std::vector<CheckpointArray>& arrays);

// Reading one checkpoint file, with every byte checked.

inline constexpr std::string_view kCheckpointMagic = "attn-demo checkpoint ";
inline constexpr std::string_view kCheckpointVersion = "1\n";
inline constexpr std::size_t kCheckpointDigest = 64;  ///< bytes of the checksum at the end
inline constexpr std::size_t kCheckpointChunk = std::size_t{1} << 20;

/// The reason why a file is not an intact checkpoint: "found …, expected …".
struct DamagedCheckpoint {
  std::string reason;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json checks itself with assert
struct CheckpointHeader {
  std::uint64_t update = 0;
  Json state;
  std::vector<std::pair<std::string, std::uint64_t>> arrays;  ///< names and sizes in floats
};

/// Reads a file once, front to back. Throws DamagedCheckpoint for unexpected content and
/// SystemError if the system refuses.
class CheckpointReader {
 public:
  /// Reads the header and checks that its sizes fill the file exactly.
  explicit CheckpointReader(const std::string& path);

  const CheckpointHeader& header() const { return header_; }
  void read_floats(float* out, std::uint64_t count);  ///< reads the next ones into `out`
  void skip_arrays();                                 ///< reads all arrays only for the checksum
  void finish();                                      ///< compares the checksum, after the arrays

 private:
  void read(void* out, std::size_t size);
  void check_sizes(std::uint64_t header_end) const;

  std::string path_;
  std::uint64_t size_ = 0;
  FileDescriptor file_;
  Sha256 sum_;
  CheckpointHeader header_;
};

}  // namespace attn
