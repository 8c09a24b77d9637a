// Where ICU sees the parts of a text end.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

enum class TextUnit {
  character,  ///< as a reader sees it: a letter with its accents (Unicode Annex 29, section 3)
  sentence    ///< section 5
};

/// The ends of all parts of a valid UTF-8 text in bytes, that of the text included.
std::vector<std::size_t> icu_boundaries(std::string_view text, TextUnit part);

}  // namespace attn
