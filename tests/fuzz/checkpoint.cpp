// Fuzzes checkpoint files. Input that begins like one is used unchanged. Otherwise it gets a valid
// beginning and checksum, which the fuzzer would not guess.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/strings/sha256.h"
#include "fuzz.h"
#include "train/run/checkpoint.h"
#include "train/run/run_state.h"

using namespace attn;

namespace {

/// A named file in memory, because the reader opens files.
class MemoryFile {
 public:
  MemoryFile()
      : number_(memfd_create("checkpoint", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(number_)) {
    fuzz::require(number_ >= 0, "memfd_create works");
  }
  const std::string& hold(std::string_view bytes) const {
    fuzz::require(ftruncate(number_, 0) == 0 && pwrite(number_, bytes.data(), bytes.size(), 0) ==
                                                    static_cast<ssize_t>(bytes.size()),
                  "memory holds the file");
    return path_;
  }

 private:
  int number_;
  std::string path_;
};

void read(const std::string& path) {
  try {
    CheckpointReader reader(path);
    reader.skip_arrays();
    reader.finish();
    fuzz::accepts([&] {
      const RunState state = RunState::from_json(reader.header().state, "checkpoint");
      const Json written = state.to_json();
      fuzz::require(RunState::from_json(written, "written").to_json() == written,
                    "a state is read as it was written");
    });
  } catch (const DamagedCheckpoint& damage) {
    fuzz::check_message(damage.reason);
  }
}

}  // namespace

FUZZ(bytes) {
  static const MemoryFile file;
  if (bytes.starts_with("attn")) return read(file.hold(bytes));
  // Adds a valid layout, length and checksum; the header is the input up to the first 0xFF.
  std::string_view data = bytes;
  const std::string_view header = fuzz::take_part(data);
  std::string whole(kCheckpointMagic);
  whole += kCheckpointVersion;
  for (int shift = 0; shift < 64; shift += 8) {
    whole += static_cast<char>(std::uint64_t{header.size()} >> shift & 0xFF);
  }
  whole.append(header).append(data);
  whole += sha256_hex(whole);
  read(file.hold(whole));
}
