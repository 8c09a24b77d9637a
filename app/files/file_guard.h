// No output takes the place of an input or of another output, however their names are spelled.
#pragma once

#include <sys/types.h>

#include <compare>
#include <map>
#include <string>

namespace attn {

/// What a command reads and what it writes, told before anything is opened for writing. Files are
/// the same where device and inode are; what is not there yet is the same where its folder and name
/// are. "" and "-" are no files; pipes and devices may be named as often as one likes, and so may
/// stdout and stderr by names of their own (/dev/stdout), which are written at their end.
class FileGuard {
 public:
  /// stdout and stderr are outputs where they lead to files, stdin an input where `reads_stdin`.
  explicit FileGuard(bool reads_stdin = false);

  /// A file that `option` (--config, RECORDS) names. UsageError where stdout, stderr or an output
  /// leads into it.
  void read(const std::string& option, const std::string& path);
  /// All files in a directory, as a model's or a tokenizer's. UsageError as read() where one of
  /// those that are read is meant.
  void read_all(const std::string& option, const std::string& directory);

  /// UsageError where `path`, which `option` asks for, is read or written already. It is finished
  /// even where stdout's reader leaves.
  void write(const std::string& option, const std::string& path);

 private:
  struct Place {
    dev_t device = 0;
    ino_t inode = 0;
    std::string rest;  ///< below that folder, where nothing is there yet
    auto operator<=>(const Place&) const = default;
  };
  static bool find(const std::string& path, Place& place);
  static bool find(int descriptor, Place& place);
  void take_input(const Place& place, const std::string& option);

  std::map<Place, std::string> inputs_;   ///< each with its option
  std::map<Place, std::string> outputs_;  ///< each with its option and name
};

}  // namespace attn
