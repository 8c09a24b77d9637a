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

/// Returns the tensor table of a whole file; messages begin with `path`. Tensors may be views with
/// strides and an offset into a shared storage. Throws InputError for anything but a table of named
/// tensors: damaged archives (read_zip_entries), pickles that call anything but tensor constructors
/// (Pickle), storages that are missing, shorter than declared or too short for their tensors,
/// big-endian numbers, duplicate names, and the format before PyTorch 1.6.
TensorTable read_torch_table(std::string_view bytes, const std::string& path);

/// An opened file, with its tensors in the pickle's order.
class TorchFile : public TensorFile {
 public:
  /// Throws SystemError if the file cannot be read, and InputError as read_torch_table() does.
  explicit TorchFile(const std::string& path) : TensorFile(path, read_torch_table) {}
};

// Python pickles as data: calls are recorded, never made. The format is documented in the comments
// of CPython's Lib/pickletools.py.

/// One value. Values refer to each other as in Python, so a list may contain itself: limit the
/// depth when you walk over them.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,  ///< the number itself is not kept
    text,
    tuple,
    list,
    dict,        ///< also a collections.OrderedDict; parts: key, value, key, value, …
    global,      ///< `text` is the qualified name: "torch.FloatStorage"
    call,        ///< a recorded call of `text`; its only part is the argument tuple
    persistent,  ///< an object outside the pickle; its part is the object's id
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  std::string_view text;  ///< points into the pickle or into AllowedPickleNames
  std::vector<const PickleValue*> parts;
};

/// The global names that a pickle may use; all others are refused, by name.
struct AllowedPickleNames {
  std::vector<std::string_view> values;     ///< may be mentioned only
  std::vector<std::string_view> functions;  ///< may be called (which is recorded)
};

class Pickle {
 public:
  /// Reads `bytes`, which must outlive the object. Supports protocols 2 to 4, as far as they build
  /// plain values, call `names`, or call collections.OrderedDict without arguments, whose
  /// attributes (BUILD) are ignored. Throws InputError, beginning with `where`, for everything
  /// else: other globals, opcodes and calls, BUILD of anything else, lengths beyond the end,
  /// unknown memo entries, missing values, more than 4 million values, and bytes after the end.
  Pickle(std::string_view bytes, const AllowedPickleNames& names, const std::string& where);

  const PickleValue& value() const { return *value_; }

 private:
  friend class PickleReader;
  std::deque<PickleValue> values_;
  const PickleValue* value_ = nullptr;
};

// Entries of a zip archive whose files are stored uncompressed, as torch.save writes them; just
// enough to map them. See PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.

struct ZipEntry {
  std::string name;
  std::size_t begin = 0;  ///< offset of its first byte in the archive
  std::size_t size = 0;
};

/// Returns all entries of the archive `bytes`, in order of their bytes; zip64 is supported. Throws
/// InputError, beginning with `path`, for any other archive: no end record, parts on other disks,
/// compressed or encrypted entries, duplicate names, entries that overlap, leave the file or have
/// another name in their local header, and bytes after the end.
std::vector<ZipEntry> read_zip_entries(std::string_view bytes, const std::string& path);

}  // namespace attn
