#include "model/directory/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tuple>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as in the reference library
constexpr std::size_t kDepth = 3;                  // the header, a tensor's entry, its shape

struct KnownType {
  std::string_view name;
  std::uint64_t bytes;
  DType dtype;
};

constexpr std::array<KnownType, 15> kTypes = {{
    {"BOOL", 1, DType::other},
    {"U8", 1, DType::other},
    {"I8", 1, DType::i8},
    {"F8_E5M2", 1, DType::other},
    {"F8_E4M3", 1, DType::other},
    {"I16", 2, DType::other},
    {"U16", 2, DType::other},
    {"F16", 2, DType::f16},
    {"BF16", 2, DType::bf16},
    {"I32", 4, DType::other},
    {"U32", 4, DType::other},
    {"F32", 4, DType::f32},
    {"F64", 8, DType::other},
    {"I64", 8, DType::other},
    {"U64", 8, DType::other},
}};

const KnownType* find_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &KnownType::name);
  return found == kTypes.end() ? nullptr : &*found;
}

std::string known_types() {
  std::string names;
  for (const KnownType& type : kTypes) {
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

std::string shown_json(const Json& value) {
  return excerpt(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

/// Checks one file's header and builds its table of tensors.
class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, const std::string& path)
      : bytes_(bytes), path_(printable(path)) {}

  /// Checks the header's length and edges, and returns its JSON text.
  std::string_view text() {
    if (bytes_.size() < kLengthBytes) {
      fail("found {}, expected at least 8 bytes and a header; is the file complete?",
           counted(bytes_.size(), "byte"));
    }
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    if (length > kMaxHeader) {
      fail("header length {}, expected at most {}; is this a safetensors file?", length,
           kMaxHeader);
    }
    if (length > bytes_.size() - kLengthBytes) {
      fail("header length {}, expected at most the {} bytes after it; is the file complete?",
           length, bytes_.size() - kLengthBytes);
    }
    data_begin_ = to_size(kLengthBytes + length);
    const std::string_view header = bytes_.substr(kLengthBytes, to_size(length));
    if (!header.starts_with('{')) {
      fail("the header begins with {}, expected '{{'",
           header.empty() ? "nothing" : "'" + excerpt(header.substr(0, 1)) + "'");
    }
    const std::string_view unpadded = header.substr(0, header.find_last_not_of(' ') + 1);
    if (std::string_view("\t\r\n").find(unpadded.back()) != std::string_view::npos) {
      fail("the header ends with byte 0x{:02x}, expected '}}' and whitespace only",
           static_cast<unsigned>(unpadded.back()));
    }
    return unpadded;
  }

  void read_metadata(const Json& value, std::map<std::string, std::string>& metadata) const {
    if (!value.is_object()) {
      fail("__metadata__ is {}, expected an object of strings", shown_json(value));
    }
    for (const auto& [key, entry] : value.items()) {
      if (!entry.is_string()) {
        fail("__metadata__ key '{}' is {}, expected a string", excerpt(key), shown_json(entry));
      }
      metadata.emplace(key, entry.get_ref<const std::string&>());
    }
  }

  TensorInfo read_tensor(const std::string& name, const Json& entry) const {
    check_keys(name, entry);
    TensorInfo tensor;
    tensor.name = name;
    const KnownType& type = read_type(tensor, entry.at("dtype"));
    read_shape(tensor, entry.at("shape"));
    const auto bytes = checked_multiply(tensor.elements, type.bytes);
    if (!bytes)
      fail_tensor(name, "shape {} needs more bytes than 64 bits can count",
                  shown_json(entry.at("shape")));
    read_range(tensor, entry.at("data_offsets"));
    if (tensor.end - tensor.begin != *bytes) {
      fail_tensor(name, "data_offsets hold {} bytes, expected {} for {} of shape {}",
                  tensor.end - tensor.begin, *bytes, tensor.dtype_name,
                  shown_json(entry.at("shape")));
    }
    return tensor;
  }

  /// Checks that the tensors, in order of bytes, cover the data exactly, and converts their ranges
  /// to offsets from the file's start.
  void check_cover(std::vector<TensorInfo>& tensors) const {
    std::ranges::sort(tensors, {}, [](const TensorInfo& tensor) {
      return std::tuple<std::size_t, std::size_t, const std::string&>(tensor.begin, tensor.end,
                                                                      tensor.name);
    });
    std::size_t covered = 0;
    for (TensorInfo& tensor : tensors) {
      if (tensor.begin < covered) {
        fail_tensor(tensor.name, "begins at data byte {}, inside the tensor before it, expected {}",
                    tensor.begin, covered);
      }
      if (tensor.begin > covered) {
        fail_tensor(tensor.name, "begins at data byte {} and leaves a hole, expected {}",
                    tensor.begin, covered);
      }
      covered = tensor.end;
      tensor.begin += data_begin_;
      tensor.end += data_begin_;
    }
    if (covered != data_size()) {
      fail("found {} after the last tensor's end, expected none",
           counted(data_size() - covered, "byte"));
    }
  }

 private:
  std::size_t data_size() const { return bytes_.size() - data_begin_; }

  void check_keys(const std::string& name, const Json& entry) const {
    if (!entry.is_object()) {
      fail_tensor(name, "is {}, expected an object with dtype, shape and data_offsets",
                  shown_json(entry));
    }
    for (const auto& [key, value] : entry.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        fail_tensor(name, "has the key '{}', expected dtype, shape and data_offsets only",
                    excerpt(key));
      }
    }
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!entry.contains(key)) {
        fail_tensor(name, "has no {}, expected dtype, shape and data_offsets", key);
      }
    }
  }

  const KnownType& read_type(TensorInfo& tensor, const Json& value) const {
    if (!value.is_string()) {
      fail_tensor(tensor.name, "dtype is {}, expected a string", shown_json(value));
    }
    tensor.dtype_name = value.get<std::string>();
    const KnownType* type = find_type(tensor.dtype_name);
    if (type == nullptr) {
      fail_tensor(tensor.name, "dtype is '{}', expected one of {}", excerpt(tensor.dtype_name),
                  known_types());
    }
    tensor.dtype = type->dtype;
    return *type;
  }

  void read_shape(TensorInfo& tensor, const Json& value) const {
    if (!value.is_array()) {
      fail_tensor(tensor.name, "shape is {}, expected an array of whole numbers",
                  shown_json(value));
    }
    if (value.size() > kMaxTensorDimensions) {
      fail_tensor(tensor.name, "shape has {} dimensions, expected at most {}", value.size(),
                  kMaxTensorDimensions);
    }
    tensor.elements = 1;
    for (const Json& dimension : value) {
      if (!dimension.is_number_unsigned()) {
        fail_tensor(tensor.name, "shape holds {}, expected whole numbers from 0",
                    shown_json(dimension));
      }
      tensor.shape.push_back(dimension.get<std::uint64_t>());
      const auto product = checked_multiply(tensor.elements, tensor.shape.back());
      if (!product) {
        fail_tensor(tensor.name, "shape {} has more elements than 64 bits can count",
                    shown_json(value));
      }
      tensor.elements = *product;
    }
  }

  void read_range(TensorInfo& tensor, const Json& value) const {
    if (!value.is_array() || value.size() != 2) {
      fail_tensor(tensor.name, "data_offsets is {}, expected [begin, end]", shown_json(value));
    }
    for (const Json& offset : value) {
      if (!offset.is_number_unsigned()) {
        fail_tensor(tensor.name, "data_offsets hold {}, expected whole numbers from 0",
                    shown_json(offset));
      }
    }
    const auto begin = value[0].get<std::uint64_t>();
    const auto end = value[1].get<std::uint64_t>();
    if (begin > end) {
      fail_tensor(tensor.name, "data_offsets begin at {} and end before it at {}", begin, end);
    }
    if (end > data_size()) {
      fail_tensor(tensor.name,
                  "data_offsets end at {}, expected at most the file's {} data bytes; is the file "
                  "complete?",
                  end, data_size());
    }
    tensor.begin = to_size(begin);
    tensor.end = to_size(end);
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: {}", path_, fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  [[noreturn]] void fail_tensor(const std::string& name, fmt::format_string<Args...> format,
                                Args&&... args) const {
    throw InputError("{}: tensor '{}': {}", path_, excerpt(name),
                     fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view bytes_;
  std::string path_;
  std::size_t data_begin_ = 0;
};

}  // namespace

TensorTable read_safetensors_table(std::string_view bytes, const std::string& path) {
  HeaderReader reader(bytes, path);
  const Json header =
      parse_json(reader.text(), path + " (header)", JsonLimits{.max_depth = kDepth});
  TensorTable table;
  table.tensors.reserve(header.size());
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      reader.read_metadata(entry, table.metadata);
    } else {
      table.tensors.push_back(reader.read_tensor(name, entry));
    }
  }
  reader.check_cover(table.tensors);
  return table;
}

}  // namespace attn
