// Fuzzes SHA256SUMS of a model directory.
#include "text/checksums.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  fuzz::accepts([&] {
    const Checksums found = parse_checksums(bytes, "model/SHA256SUMS");
    for (const std::string& digest : {found.source, found.target}) {
      fuzz::require(digest.find_first_not_of("0123456789abcdef") == digest.npos, "small digits");
      fuzz::require(digest.empty() || digest.size() == 64, "a whole digest");
    }
  });
}
