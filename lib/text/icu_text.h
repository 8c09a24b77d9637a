// Text boundaries from ICU.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

enum class TextUnit {
  character,  ///< as seen by a reader: a letter with its accents (Unicode Annex 29, section 3)
  sentence    ///< section 5
};

/// Returns the byte offsets where the parts of a valid UTF-8 text end, including the end of the
/// text.
std::vector<std::size_t> icu_boundaries(std::string_view text, TextUnit part);

}  // namespace attn
