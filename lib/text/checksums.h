// SHA256SUMS of a model directory, as `sha256sum` writes and checks it.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Checks source.spm and target.spm against SHA256SUMS if `directory` has that file. Throws
/// InputError unless their digests are the listed ones; a file that is not listed is not checked.
void verify_checksums(const std::string& directory, std::string_view source_spm,
                      std::string_view target_spm);

/// The lower-case digests that a list gives for the two models; empty if a model is not listed.
struct Checksums {
  std::string source;
  std::string target;
};

/// Parses a list. Throws InputError, beginning with `where`, for a line that sha256sum would not
/// write.
Checksums parse_checksums(std::string_view list, const std::string& where);

/// Writes SHA256SUMS of `directory`, with the digest of every file in it, sorted by name.
void write_checksums(const std::string& directory);

}  // namespace attn
