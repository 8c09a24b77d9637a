// Reading of one checkpoint file, every byte checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files/descriptor.h"
#include "base/json.h"
#include "base/strings/sha256.h"

namespace attn {

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
