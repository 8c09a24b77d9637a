// The entries of a zip archive whose files are stored as they are, as torch.save writes it: what is
// needed to map them, and no more. See PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct ZipEntry {
  std::string name;
  std::size_t begin = 0;  ///< its first byte, counted from the archive's start
  std::size_t size = 0;
};

/// All entries of the archive that `bytes` are, in order of their bytes; zip64 included.
/// InputError, beginning with `path`, for what is no such archive: no end record, parts on other
/// disks, compressed or encrypted entries, names twice, entries that overlap, that leave the file
/// or are called otherwise where they stand, bytes behind the end.
std::vector<ZipEntry> read_zip_entries(std::string_view bytes, const std::string& path);

}  // namespace attn
