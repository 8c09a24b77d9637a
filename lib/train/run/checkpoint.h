// Checkpoints: everything that a training run goes on from, written so that a crash at any moment
// leaves an intact one.
//
// A checkpoint file holds, one after another:
//   "attn-demo checkpoint 1\n"   the kind of file and the version of its layout
//   8 bytes                      the header's length, little-endian
//   header                       JSON: {"update": N, "state": {…}, "arrays": [["name", size], …]}
//   the arrays' floats           little-endian, in the header's order
//   64 hexadecimal digits        SHA-256 of everything before
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

/// A named block of numbers of a checkpoint: weights, moments, averages.
struct CheckpointArray {
  std::string name;
  std::span<float> values;
};

/// What a checkpoint says without its arrays.
struct CheckpointInfo {
  std::string path;
  std::uint64_t update = 0;
  Json state;  ///< an object; what it holds is the trainer's
};

/// Writes folder/checkpoint-UPDATE (nine digits, so that names sort) atomically: temporary file,
/// fsync, rename, fsync of the folder (made where it is missing). Then removes all but this one and
/// the next older, damaged ones of a later update (the run went back past them), and temporary
/// files that a killed run left. Names of arrays are distinct and not empty. SystemError where the
/// system refuses (disk full): older checkpoints are then intact and no temporary file is left.
void write_checkpoint(const std::string& folder, std::uint64_t update, const Json& state,
                      const std::vector<CheckpointArray>& arrays);

/// The newest checkpoint that is whole, checksum verified; nothing where the folder is missing or
/// holds none. A damaged newer one is passed over with a sentence in `notes`; InputError where
/// there are checkpoints and all are damaged; SystemError where one cannot be read.
std::optional<CheckpointInfo> newest_checkpoint(const std::string& folder,
                                                std::vector<std::string>& notes);

/// Fills `arrays` from the checkpoint; InputError naming the file where the number of arrays, a
/// name (in this order) or a size differs (then nothing was filled), or where the file is no longer
/// whole (then what was filled is not to be used).
void read_arrays(const CheckpointInfo& checkpoint, const std::vector<CheckpointArray>& arrays);

// Reading of one checkpoint file, every byte checked.

inline constexpr std::string_view kCheckpointMagic = "attn-demo checkpoint ";
inline constexpr std::string_view kCheckpointVersion = "1\n";
inline constexpr std::size_t kCheckpointDigest = 64;  ///< bytes of the checksum at the end
inline constexpr std::size_t kCheckpointChunk = std::size_t{1} << 20;

/// Why a file is no whole checkpoint: "found …, expected …".
struct DamagedCheckpoint {
  std::string reason;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json checks itself with assert
struct CheckpointHeader {
  std::uint64_t update = 0;
  Json state;
  std::vector<std::pair<std::string, std::uint64_t>> arrays;  ///< names and numbers of floats
};

/// Goes through a file once, front to back. Throws DamagedCheckpoint for what is not as written,
/// SystemError where the system refuses.
class CheckpointReader {
 public:
  /// Reads the header, and checks that the sizes in it fill the file exactly.
  explicit CheckpointReader(const std::string& path);

  const CheckpointHeader& header() const { return header_; }
  void read_floats(float* out, std::uint64_t count);  ///< the next ones, straight to their place
  void skip_arrays();                                 ///< all of them: only the checksum sees them
  void finish();                                      ///< after the arrays: compares the checksum

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
