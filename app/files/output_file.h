// Output files: written completely or not at all, reported on stderr, and with names that match
// their format.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"

namespace attn {

/// The files of one option, reported in one line: "note: wrote m.svg (9.1 kB), m-2.svg (8.0 kB)";
/// more than six as "note: wrote m{,-2,-3,…,-90}.svg (90 files, 620.0 kB)".
class WrittenFiles {
 public:
  void add(const std::string& path, std::size_t bytes);
  void print_note() const;  ///< prints nothing if there are no files

 private:
  struct File {
    std::string path;
    std::size_t bytes;
  };
  std::vector<File> files_;
};

/// A file that appears completely or not at all; "-" is stdout, which is not reported. Other files
/// are finished even if stdout's reader closes the pipe.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(std::string_view bytes);
  void commit();                        ///< finishes and reports the file
  void commit(WrittenFiles& together);  ///< finishes the file, to be reported with others

 private:
  std::string path_;
  std::unique_ptr<AtomicFile> file_;  ///< null: stdout
  std::size_t bytes_ = 0;
};

/// Writes an OutputFile in one call.
void write_output(const std::string& path, std::string_view bytes);

/// Throws UsageError if the extension of a file for `option` (--svg) belongs to another format
/// (a.pdf). `options` are the command's options; the message names the one that writes the other
/// format.
void check_file_name(std::string_view option, const std::string& path,
                     const std::vector<std::string>& options);

}  // namespace attn
