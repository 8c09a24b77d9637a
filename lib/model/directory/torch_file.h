// pytorch_model.bin, as torch.save has written it since 1.6: a zip archive of the raw numbers
// (zip_entries.cpp) and a pickle, data.pkl, that lists the tensors (pickle.cpp). The pickle is
// parsed as data; nothing in it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "model/directory/tensor_file.h"

namespace attn {

/// The table of a whole file's bytes; `path` begins messages. Tensors may be views of a storage
/// that they share, with strides and an offset. InputError for what is no table of tensors by name:
/// damaged archives (zip_entries.h), pickles that ask for anything but tensors (pickle.h), storages
/// that are missing, shorter than they say or than their tensors, big-endian numbers, names twice;
/// and for the format of before 1.6.
TensorTable read_torch_table(std::string_view bytes, const std::string& path);

/// An opened file; its tensors in the pickle's order.
class TorchFile : public TensorFile {
 public:
  /// SystemError where the file cannot be read, InputError as read_torch_table().
  explicit TorchFile(const std::string& path) : TensorFile(path, read_torch_table) {}
};

// Python's pickles as data: what a pickle would have called is noted down, and nothing is called.
// The format: the comments of Lib/pickletools.py in CPython.

/// One value. Values refer to each other as they do in Python, so a list may hold itself: whoever
/// walks over them sets his own bound to the depth.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,  ///< its number is not kept
    text,
    tuple,
    list,
    dict,        ///< also a collections.OrderedDict; its parts are key, value, key, value, …
    global,      ///< `text` is its name with its module: "torch.FloatStorage"
    call,        ///< what `text` would have made of its arguments: its part, a tuple
    persistent,  ///< what lies outside of the pickle, by a name that is its part
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  std::string_view text;  ///< a part of the pickle, or of AllowedPickleNames
  std::vector<const PickleValue*> parts;
};

/// What a pickle may name; anything else is refused, by its name.
struct AllowedPickleNames {
  std::vector<std::string_view> values;     ///< may be named only
  std::vector<std::string_view> functions;  ///< may be noted as called
};

class Pickle {
 public:
  /// Reads `bytes`, which outlive it: protocols 2 to 4, as far as they make plain values, calls of
  /// `names` and collections.OrderedDict without arguments, whose attributes (BUILD) are passed
  /// over. InputError, beginning with `where`, for everything else: other globals, opcodes and
  /// calls, BUILD of anything else, lengths beyond the end, unknown places of the memo, values that
  /// are missing, 4 million of them, bytes behind the end.
  Pickle(std::string_view bytes, const AllowedPickleNames& names, const std::string& where);

  const PickleValue& value() const { return *value_; }

 private:
  friend class PickleReader;
  std::deque<PickleValue> values_;
  const PickleValue* value_ = nullptr;
};

// The entries of a zip archive whose files are stored as they are, as torch.save writes it: what is
// needed to map them, and no more. See PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.

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
