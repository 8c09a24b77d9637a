#include "model/directory/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "compute/half.h"

namespace attn {
namespace {

std::uint64_t elements_of(const TensorToWrite& tensor) {
  std::optional<std::uint64_t> elements = 1;
  for (const std::uint64_t dimension : tensor.shape) {
    elements = checked_multiply(*elements, dimension);
    if (!elements) throw InputError("tensor '{}': shape exceeds 64 bits", printable(tensor.name));
  }
  return *elements;
}

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i8:
      return "I8";
    case DType::other:
      break;
  }
  throw std::logic_error("safetensors are written as F32, F16, BF16 or I8");
}

std::uint64_t width_of(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::i8 ? 1 : 2;
}

/// Returns the length field followed by the padded header.
std::string make_header(const std::vector<TensorToWrite>& tensors, DType dtype) {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    if (header.contains(tensor.name)) {
      throw std::logic_error("tensor name twice or reserved: " + tensor.name);
    }
    const DType own = tensor.dtype.value_or(dtype);
    const auto bytes = checked_multiply(elements_of(tensor), width_of(own));
    const auto end = bytes ? checked_add(begin, *bytes) : std::nullopt;
    if (!end) throw InputError("tensor '{}': sizes exceed 64 bits", printable(tensor.name));
    header[tensor.name] = {
        {"dtype", dtype_name(own)}, {"shape", tensor.shape}, {"data_offsets", {begin, *end}}};
    begin = *end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + text;
}

/// Refuses NaN and infinity, because such a file could not be loaded again.
void require_finite(const TensorToWrite& tensor, const std::vector<float>& values) {
  const auto found = std::find_if_not(values.begin(), values.end(),
                                      [](float value) { return std::isfinite(value); });
  if (found == values.end()) return;
  throw InputError("tensor '{}': element {} is {}, expected a finite number",
                   printable(tensor.name), found - values.begin(), *found);
}

/// Narrows all values. Returns the index of the first one that became infinite, if any. `infinity`
/// is the bit pattern of infinity in the narrow type.
template <typename Narrow>
std::optional<std::size_t> narrow_all(const std::vector<float>& values, std::uint16_t infinity,
                                      std::vector<std::uint16_t>& narrowed, Narrow narrow) {
  narrowed.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) narrowed[i] = narrow(values[i]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((narrowed[i] & 0x7fffu) == infinity) return i;
  }
  return std::nullopt;
}

std::string_view as_bytes(const void* data, std::size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       DType dtype) {
  AtomicFile file(path);
  file.write(make_header(tensors, dtype));
  std::vector<float> values;
  std::vector<std::uint16_t> narrowed;
  for (const TensorToWrite& tensor : tensors) {
    values.resize(elements_of(tensor));
    tensor.fill(values.data());
    require_finite(tensor, values);
    const DType own = tensor.dtype.value_or(dtype);
    if (own == DType::f32) {
      file.write(as_bytes(values.data(), values.size() * sizeof(float)));
      continue;
    }
    if (own == DType::i8) {
      const std::vector<std::int8_t> bytes(values.begin(), values.end());
      file.write(as_bytes(bytes.data(), bytes.size()));
      continue;
    }
    const bool f16 = own == DType::f16;
    const auto too_large = f16 ? narrow_all(values, 0x7c00, narrowed, half::narrow_f16)
                               : narrow_all(values, 0x7f80, narrowed, half::narrow_bf16);
    if (too_large) {
      throw InputError("tensor '{}': element {} is {}, expected at most {}; write F32",
                       printable(tensor.name), *too_large, values[*too_large],
                       f16 ? "65504 for F16" : "3.39e38 for BF16");
    }
    file.write(as_bytes(narrowed.data(), narrowed.size() * sizeof(std::uint16_t)));
  }
  file.commit();
}

}  // namespace attn
