// No output takes the place of an input or of another output, however their names are spelled.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <tuple>

#include "service/field_text.h"

namespace attn {

/// What a command reads and what it writes, told before anything is opened for writing. Files are
/// the same where device and inode are; what is not there yet is the same where its folder and name
/// are. "" and "-" are no files; pipes and devices may be named as often as one likes, and so may
/// stdout and stderr by names of their own (/dev/stdout), which are written at their end.
class FileGuard {
 public:
  /// stdout and stderr are outputs where they lead to files, stdin an input where `reads_stdin`.
  explicit FileGuard(bool reads_stdin = false);

  /// A file that `named` (a field, RECORDS) names. UsageError where stdout, stderr or an output
  /// leads into it.
  void read(const FieldText& named, const std::string& path);
  /// All files in a directory, as a model's or a tokenizer's. UsageError as read() where one of
  /// those that are read is meant.
  void read_all(const FieldText& named, const std::string& directory);

  /// UsageError where `path`, which `named` asks for, is read or written already.
  void write(const FieldText& named, const std::string& path);

 private:
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    std::string rest;  ///< below that folder, where nothing is there yet
    bool operator<(const FileId& other) const {
      return std::tie(device, inode, rest) < std::tie(other.device, other.inode, other.rest);
    }
  };
  static bool find(const std::string& path, FileId& place);
  static bool find(int descriptor, FileId& place);
  void take_input(const FileId& place, const FieldText& named);

  struct Output {
    FieldText name;
    bool own = false;  ///< stdout or stderr
  };
  std::map<FileId, FieldText> inputs_;  ///< each with what names it
  std::map<FileId, Output> outputs_;    ///< each with what names it, and its path
};

}  // namespace attn
