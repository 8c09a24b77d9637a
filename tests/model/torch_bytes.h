// Makes files of torch.save as bytes, valid or invalid, without the code under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace attn::test {

/// Returns a number in the formats' byte order, little-endian.
template <typename Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

struct ZipPart {
  std::string name;
  std::string bytes;
  std::uint16_t method = 0;  ///< compression method
  std::uint16_t flags = 0;
  std::string other_name = {};  ///< name in the local header, if not `name`
  std::int64_t moved = 0;       ///< error in its offset in the list
  std::int64_t more = 0;        ///< error in its size in the list
};

/// Deviations of the end of an archive from the truth.
struct ZipEnd {
  std::int64_t more_entries = 0;
  std::int64_t moved = 0;
  std::uint16_t disk = 0;
  std::string comment = {};
};

inline std::string zip_bytes(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
  std::string all;
  std::string list;
  const auto numbers = [](const ZipPart& part) {
    return bytes_of(part.flags) + bytes_of(part.method) + std::string(8, '\0');  // time, CRC
  };
  for (const ZipPart& part : parts) {
    const auto begin =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(all.size()) + part.moved);
    const auto size =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(part.bytes.size()) + part.more);
    const std::string& here = part.other_name.empty() ? part.name : part.other_name;
    const auto name_size = [](const std::string& name) {
      return bytes_of(static_cast<std::uint16_t>(name.size()));
    };
    all += "PK\3\4" + bytes_of(std::uint16_t{0}) + numbers(part) + std::string(8, '\0') +
           name_size(here) + std::string(2, '\0') + here + part.bytes;
    list += "PK\1\2" + std::string(4, '\0') + numbers(part) + bytes_of(size) + bytes_of(size) +
            name_size(part.name) + std::string(12, '\0') + bytes_of(begin) + part.name;
  }
  const auto count =
      static_cast<std::uint16_t>(static_cast<std::int64_t>(parts.size()) + end.more_entries);
  const auto begin = static_cast<std::uint32_t>(static_cast<std::int64_t>(all.size()) + end.moved);
  return all + list + "PK\5\6" + bytes_of(end.disk) + bytes_of(std::uint16_t{0}) + bytes_of(count) +
         bytes_of(count) + bytes_of(static_cast<std::uint32_t>(list.size())) + bytes_of(begin) +
         bytes_of(static_cast<std::uint16_t>(end.comment.size())) + end.comment;
}

// Pickles, opcode by opcode (Lib/pickletools.py).

inline std::string text(const std::string& words) {
  return "X" + bytes_of(static_cast<std::uint32_t>(words.size())) + words;
}
inline std::string integer(std::int64_t number) {
  return std::string("\x8a\x08", 2) + bytes_of(number);
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::string& parts) {
  return "(" + parts + "t";
}
inline std::string call(const std::string& function, const std::string& arguments) {
  return function + tuple(arguments) + "R";
}
inline std::string pickle(const std::string& value) {
  return "\x80\x02" + value + ".";
}
inline std::string table(const std::string& items) {
  return pickle("}(" + items + "u");
}

/// The arguments from which a tensor is rebuilt. A table row is its name, followed by these.
struct TorchTensor {
  std::string shape = integer(2) + integer(3);
  std::string strides = integer(3) + integer(1);
  std::int64_t offset = 0;
  std::int64_t elements = 6;  ///< elements of the storage
  std::string type = "FloatStorage";
  std::string entry = "0";

  std::string bytes() const {
    const std::string storage = tuple(text("storage") + global("torch", type) + text(entry) +
                                      text("cpu") + integer(elements)) +
                                "Q";
    return call(global("torch._utils", "_rebuild_tensor_v2"),
                storage + integer(offset) + tuple(shape) + tuple(strides) + "\x89" +
                    global("collections", "OrderedDict") + ")R");
  }
};

/// Returns a file with this pickle, and a storage "0" of `bytes` bytes.
inline std::string torch_bytes(const std::string& pickled, std::size_t bytes = 24) {
  return zip_bytes({{"m/data.pkl", pickled},
                    {"m/byteorder", "little"},
                    {"m/data/0", std::string(bytes, '\1')},
                    {"m/version", "3\n"}});
}

/// Returns a file with one tensor "w".
inline std::string torch_bytes(const TorchTensor& tensor, std::size_t bytes = 24) {
  return torch_bytes(table(text("w") + tensor.bytes()), bytes);
}

}  // namespace attn::test
