#include "base/strings/base64.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? byte_value(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
}

void append_base64(std::string& out, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xffU);
  }
  append_base64(out, bytes);
}

std::optional<std::vector<float>> decode_base64_floats(std::string_view text, std::uint64_t count) {
  const std::optional<std::uint64_t> bytes = checked_multiply(count, sizeof(float));
  // Four letters hold three bytes; "=" pads the last group.
  if (!bytes || text.size() % 4 != 0 || text.size() / 4 != *bytes / 3 + (*bytes % 3 > 0)) return {};
  const std::string_view letters = text.substr(0, text.size() - (3 - *bytes % 3) % 3);
  if (text.substr(letters.size()).find_first_not_of('=') != text.npos) return {};
  std::vector<float> values;
  values.reserve(count);
  std::uint64_t waiting = 0;
  unsigned have = 0;
  for (const char letter : letters) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == kDigits.npos) return {};
    // Bits arrive highest first; the bytes of a float are stored lowest first.
    waiting = waiting << 6 | digit;
    have += 6;
    if (have < 32) continue;
    have -= 32;
    const auto word = static_cast<std::uint32_t>(waiting >> have);
    values.push_back(std::bit_cast<float>(word >> 24 | (word >> 8 & 0xff00U) |
                                          (word << 8 & 0xff0000U) | word << 24));
  }
  return values;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padded = last && k >= 4 - padding;
      const std::size_t digit = padded ? 0 : kDigits.find(text[i + k]);
      if (digit == kDigits.npos) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    const std::size_t count = last ? 3 - padding : 3;
    if ((group & ((1U << (8 * (3 - count))) - 1)) != 0) return std::nullopt;
    for (std::size_t k = 0; k < count; ++k) {
      bytes += static_cast<char>(group >> (16 - 8 * k) & 0xFFU);
    }
  }
  return bytes;
}

}  // namespace attn
