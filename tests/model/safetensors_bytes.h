// Makes safetensors files as bytes, valid or invalid, without the code under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace attn::test {

/// Returns a file from a header and data, with a correct length field.
inline std::string build(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

inline std::string with_length(std::uint64_t length, std::string bytes) {
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

inline std::string entry(const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

/// Returns a file with one tensor "w" and `data_bytes` bytes of data.
inline std::string one(const std::string& description, std::size_t data_bytes) {
  return build("{\"w\":" + description + "}", data_bytes);
}

inline const std::string kGood = entry("F32", "[2,3]", "[0,24]");

}  // namespace attn::test
