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

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

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

}  // namespace attn
