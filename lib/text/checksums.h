// SHA256SUMS of a model directory, as `sha256sum` writes and checks it.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Where `directory` holds SHA256SUMS: InputError unless the contents of source.spm and target.spm
/// have the digests listed for them; a name that is not listed is not checked.
void verify_checksums(const std::string& directory, std::string_view source_spm,
                      std::string_view target_spm);

/// The digests that a list names for the two models, in lower case; empty where it names none.
struct Checksums {
  std::string source;
  std::string target;
};

/// Reads a list; InputError, beginning with `where`, for a line that sha256sum does not write.
Checksums parse_checksums(std::string_view list, const std::string& where);

/// Lists every file of `directory` with its digest in SHA256SUMS there, sorted by name.
void write_checksums(const std::string& directory);

}  // namespace attn
