// The files that commands write: whole or not at all, named on stderr, and called what they are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"

namespace attn {

/// Files that one option asked for, told in one line: "note: wrote m.svg (9.1 kB), m-2.svg (8.0
/// kB)"; more than six as "note: wrote m{,-2,-3,…,-90}.svg (90 files, 620.0 kB)".
class WrittenFiles {
 public:
  void add(const std::string& path, std::size_t bytes);
  void print_note() const;  ///< nothing where there are none

 private:
  struct File {
    std::string path;
    std::size_t bytes;
  };
  std::vector<File> files_;
};

/// A file that appears whole or not at all; "-" is stdout, of which nothing is told. A file is
/// finished even where stdout's reader leaves.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(std::string_view bytes);
  void commit();                        ///< and tells of it
  void commit(WrittenFiles& together);  ///< to be told with others

 private:
  std::string path_;
  std::unique_ptr<AtomicFile> file_;  ///< null: stdout
  std::size_t bytes_ = 0;
};

/// OutputFile in one call.
void write_output(const std::string& path, std::string_view bytes);

/// UsageError where the name of a file that `option` (--svg) is to write says that it is another
/// kind (a.pdf). `options` are those of the command: the one that writes the other kind is named.
void check_file_name(std::string_view option, const std::string& path,
                     const std::vector<std::string>& options);

}  // namespace attn
