#include "metrics/unicode_text.h"

namespace attn {

std::size_t space_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) {
    return (first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x20) ? 1 : 0;
  }
  if (first == 0xC2) return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
  const unsigned rest = byte(1) << 8 | byte(2);
  bool space = false;
  if (first == 0xE1) space = rest == 0x9A80;  // U+1680
  if (first == 0xE2) {                        // U+2000 to 200A, 2028, 2029, 202F, 205F
    space = (rest >= 0x8080 && rest <= 0x808A) || rest == 0x80A8 || rest == 0x80A9 ||
            rest == 0x80AF || rest == 0x819F;
  }
  if (first == 0xE3) space = rest == 0x8080;  // U+3000
  return space ? 3 : 0;
}

std::string_view strip_right(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = space_length(text.substr(at));
    at += space > 0 ? space : 1;
    if (space == 0) end = at;
  }
  return text.substr(0, end);
}

std::string_view strip_spaces(std::string_view text) {
  while (const std::size_t space = space_length(text)) text.remove_prefix(space);
  return strip_right(text);
}

std::string normalize_spaces(std::string_view text) {
  std::string result;
  for (const std::string_view word : split_at_spaces(text)) {
    if (!result.empty()) result += ' ';
    result += word;
  }
  return result;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const bool end = at == text.size();
    const std::size_t space = end ? 1 : space_length(text.substr(at));
    if (space > 0) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + space;
    }
    at += space > 0 ? space : 1;
  }
  return words;
}

}  // namespace attn
