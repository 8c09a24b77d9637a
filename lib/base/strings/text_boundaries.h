// Boundaries of characters, words and sentences, from ICU.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

enum class TextUnit {
  character,  ///< as seen by a reader: a letter with its accents (Unicode Annex 29, section 3)
  word,       ///< section 4; by dictionaries in Chinese, Japanese, Thai, Lao, Khmer and Burmese
  sentence    ///< section 5
};

/// Returns the byte offsets where the parts of a valid UTF-8 text end, including the end of the
/// text.
std::vector<std::size_t> text_boundaries(std::string_view text, TextUnit part);

/// True if the text contains a letter of a script that puts no spaces between words.
bool has_unspaced_script(std::string_view text);

}  // namespace attn
