#include "model/directory/torch_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kMaxPickle = std::size_t{64} << 20;
constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr const char* kWayOut =
    "load it in transformers, and save_pretrained() writes it as safetensors";

struct StorageType {
  std::string_view name;
  std::uint64_t bytes;  ///< per element
  DType dtype;
  const char* dtype_name;
};

constexpr std::array<StorageType, 10> kStorageTypes = {{
    {"torch.FloatStorage", 4, DType::f32, "F32"},
    {"torch.HalfStorage", 2, DType::f16, "F16"},
    {"torch.BFloat16Storage", 2, DType::bf16, "BF16"},
    {"torch.DoubleStorage", 8, DType::other, "F64"},
    {"torch.LongStorage", 8, DType::other, "I64"},
    {"torch.IntStorage", 4, DType::other, "I32"},
    {"torch.ShortStorage", 2, DType::other, "I16"},
    {"torch.CharStorage", 1, DType::other, "I8"},
    {"torch.ByteStorage", 1, DType::other, "U8"},
    {"torch.BoolStorage", 1, DType::other, "BOOL"},
}};

const AllowedPickleNames& known_names() {
  static const AllowedPickleNames names = [] {
    AllowedPickleNames made{{}, {kTensor, kParameter}};
    for (const StorageType& type : kStorageTypes) made.values.push_back(type.name);
    return made;
  }();
  return names;
}

/// A contiguous run of numbers in the archive.
struct Storage {
  StorageType type;
  std::uint64_t elements = 0;
  std::size_t begin = 0;
};

class TorchReader {
 public:
  TorchReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  TensorTable run() {
    refuse_older_format();
    entries_ = read_zip_entries(bytes_, path_);
    for (const ZipEntry& entry : entries_) by_name_[entry.name] = &entry;
    const ZipEntry& description = find_description();
    if (const ZipEntry* order = find("byteorder")) {
      if (bytes_of(*order) != "little") fail("numbers in another byte order than little-endian");
    }
    const std::string where = printable(path_) + " (data.pkl)";
    const Pickle pickle(bytes_of(description), known_names(), where);
    read_table(pickle.value());
    return std::move(table_);
  }

 private:
  void refuse_older_format() const {
    constexpr std::string_view kMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
                                      14);
    if (bytes_.starts_with(kMagic)) fail("the format of PyTorch before 1.6; {}", kWayOut);
  }

  /// Returns the archive's only NAME/data.pkl, where NAME is a folder with its slash.
  const ZipEntry& find_description() {
    const ZipEntry* found = nullptr;
    for (const ZipEntry& entry : entries_) {
      const std::size_t slash = entry.name.find('/');
      if (slash == entry.name.npos || entry.name.substr(slash + 1) != "data.pkl") continue;
      if (found != nullptr) fail("two descriptions, {} and {}", excerpt(found->name), entry.name);
      found = &entry;
      folder_ = entry.name.substr(0, slash + 1);
    }
    if (found == nullptr) fail("an archive without data.pkl, which torch.save writes");
    if (found->size > kMaxPickle) {
      fail("its data.pkl has {} bytes, expected at most {}", found->size, kMaxPickle);
    }
    return *found;
  }

  const ZipEntry* find(std::string_view name) const {
    const auto found = by_name_.find(folder_ + std::string(name));
    return found == by_name_.end() ? nullptr : found->second;
  }

  std::string_view bytes_of(const ZipEntry& entry) const {
    return bytes_.substr(entry.begin, entry.size);
  }

  void read_table(const PickleValue& value) {
    if (value.kind != Kind::dict) fail("its data.pkl holds no table of tensors by name");
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < value.parts.size(); i += 2) {
      const PickleValue& key = *value.parts[i];
      const PickleValue& tensor = *value.parts[i + 1];
      if (key.kind != Kind::text) fail("its data.pkl has a key that is not text");
      if (!names.insert(key.text).second) fail("tensor '{}' stands twice", excerpt(key.text));
      if (tensor.kind == Kind::call) read_parameter(std::string(key.text), tensor);
    }
    if (!table_.tensors.empty() || names.empty()) return;
    fail("its data.pkl holds {} and no tensors; expected the state_dict of a model",
         excerpt(*names.begin()));
  }

  /// Reads a parameter: the tensor that is the call's first argument.
  void read_parameter(const std::string& name, const PickleValue& call) {
    if (call.text == kTensor) return read_tensor_of(name, call);
    const auto& arguments = call.parts.front()->parts;
    const bool tensor =
        !arguments.empty() && arguments[0]->kind == Kind::call && arguments[0]->text == kTensor;
    if (!tensor) fail_tensor(name, "is a parameter without a tensor");
    read_tensor_of(name, *arguments[0]);
  }

  /// Reads (storage, offset, shape, strides, …); the rest is about gradients.
  void read_tensor_of(const std::string& name, const PickleValue& call) {
    const auto& arguments = call.parts.front()->parts;
    const bool right = arguments.size() >= 4 && arguments[0]->kind == Kind::persistent &&
                       arguments[1]->kind == Kind::integer && arguments[2]->kind == Kind::tuple &&
                       arguments[3]->kind == Kind::tuple;
    if (!right) fail_tensor(name, "is not storage, offset, shape and strides");
    const Storage storage = storage_of(name, *arguments[0]->parts.front());
    TensorInfo tensor;
    tensor.name = name;
    tensor.dtype = storage.type.dtype;
    tensor.dtype_name = storage.type.dtype_name;
    tensor.shape = numbers(name, "shape", *arguments[2]);
    tensor.strides = numbers(name, "strides", *arguments[3]);
    if (tensor.shape.size() != tensor.strides.size()) {
      fail_tensor(name, "has {} dimensions and {} strides", tensor.shape.size(),
                  tensor.strides.size());
    }
    place(tensor, storage, arguments[1]->integer);
    table_.tensors.push_back(std::move(tensor));
  }

  /// Reads ("storage", type, name of the entry, device, elements).
  Storage storage_of(const std::string& name, const PickleValue& value) const {
    const auto& parts = value.parts;
    const bool right = value.kind == Kind::tuple && parts.size() == 5 &&
                       parts[0]->kind == Kind::text && parts[0]->text == "storage" &&
                       parts[1]->kind == Kind::global && parts[2]->kind == Kind::text &&
                       parts[4]->kind == Kind::integer && parts[4]->integer >= 0;
    if (!right) fail_tensor(name, "has a storage of an unknown form");
    const auto type = std::ranges::find(kStorageTypes, parts[1]->text, &StorageType::name);
    if (type == kStorageTypes.end()) fail_tensor(name, "has {} for a storage", parts[1]->text);
    const ZipEntry* entry = find("data/" + std::string(parts[2]->text));
    if (entry == nullptr) {
      fail_tensor(name, "is in data/{}, which is missing; is the file complete?",
                  excerpt(parts[2]->text));
    }
    const Storage storage{*type, static_cast<std::uint64_t>(parts[4]->integer), entry->begin};
    if (storage.elements > entry->size / storage.type.bytes) {
      fail_tensor(name, "has a storage of {} {} in {} bytes", storage.elements,
                  storage.type.dtype_name, entry->size);
    }
    return storage;
  }

  std::vector<std::uint64_t> numbers(const std::string& name, const char* what,
                                     const PickleValue& tuple) const {
    if (tuple.parts.size() > kMaxTensorDimensions) {
      fail_tensor(name, "has {} dimensions, expected at most {}", tuple.parts.size(),
                  kMaxTensorDimensions);
    }
    std::vector<std::uint64_t> found;
    for (const PickleValue* part : tuple.parts) {
      if (part->kind != Kind::integer || part->integer < 0) {
        fail_tensor(name, "has {} that are not whole numbers from 0", what);
      }
      found.push_back(static_cast<std::uint64_t>(part->integer));
    }
    return found;
  }

  /// Sets the tensor's byte range inside the storage, and its strides if it is not contiguous.
  void place(TensorInfo& tensor, const Storage& storage, std::int64_t offset) const {
    std::optional<std::uint64_t> elements = 1;
    std::optional<std::uint64_t> last = static_cast<std::uint64_t>(offset);
    bool in_order = true;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
      const std::uint64_t size = tensor.shape[d];
      if (size > 1) {
        in_order = in_order && tensor.strides[d] == *elements;
        const auto step = checked_multiply(size - 1, tensor.strides[d]);
        last = last && step ? checked_add(*last, *step) : std::nullopt;
      }
      elements = checked_multiply(*elements, size);
      if (!elements) fail_tensor(tensor.name, "has more than 2^64 elements");
    }
    tensor.elements = *elements;
    if (tensor.elements == 0) {
      tensor.begin = tensor.end = storage.begin;
    } else if (offset < 0 || !last || *last >= storage.elements) {
      fail_tensor(tensor.name, "exceeds its storage of {} elements", storage.elements);
    } else {
      tensor.begin =
          storage.begin + to_size(static_cast<std::uint64_t>(offset) * storage.type.bytes);
      tensor.end = storage.begin + to_size((*last + 1) * storage.type.bytes);
    }
    if (in_order || tensor.elements == 0) tensor.strides.clear();
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: {}", printable(path_), fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  [[noreturn]] void fail_tensor(const std::string& name, fmt::format_string<Args...> format,
                                Args&&... args) const {
    fail("tensor '{}' {}", excerpt(name), fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view bytes_;
  const std::string& path_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string, const ZipEntry*> by_name_;
  std::string folder_;
  TensorTable table_;
};

}  // namespace

TensorTable read_torch_table(std::string_view bytes, const std::string& path) {
  return TorchReader(bytes, path).run();
}

}  // namespace attn
