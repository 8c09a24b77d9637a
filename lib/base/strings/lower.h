// Small letters of protocols and formats; those of languages are ICU's
// (text/sentence_splitter.cpp).
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// A to Z become a to z, whatever the locale; all other bytes stay.
inline std::string ascii_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

}  // namespace attn
