#include "base/strings/excerpt.h"

#include <algorithm>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Without the middle, cut between characters.
std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](std::size_t at) {
    return at < text.size() && is_continuation_byte(text[at]);
  };
  std::size_t head = most / 2;
  while (head > 0 && continues(head)) --head;
  std::size_t tail = text.size() - most / 2;
  while (continues(tail)) ++tail;
  return std::string(text.substr(0, head)).append("…").append(text.substr(tail));
}

}  // namespace

std::string excerpt(std::string_view piece, int columns) {
  const std::size_t most_bytes = 4 * to_size(columns);  // that are looked at
  return truncate_to_width(printable(piece.substr(0, most_bytes)), columns);
}

std::string shorten_message(std::string_view message) {
  constexpr std::size_t kLongestWord = 300;
  constexpr std::size_t kLongestMessage = 4000;
  std::string result;
  for (std::size_t start = 0; start < message.size();) {
    const std::size_t end = std::min(message.find(' ', start), message.size());
    result += without_middle(message.substr(start, end - start), kLongestWord);
    if (end < message.size()) result += ' ';
    start = end + 1;
  }
  return without_middle(result, kLongestMessage);
}

}  // namespace attn
