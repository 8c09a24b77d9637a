// A look at the normalisation rules inside a SentencePiece model (charsmap.h) before anybody uses
// them: the library follows their indices without one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn {

/// InputError unless every index that a search can follow stays inside `charsmap` (a whole
/// precompiled_charsmap field, at byte `offset` of the file that `where` names), no search finds
/// more matches than the library has room for, and replacements are whole UTF-8 strings.
void check_charsmap(std::string_view charsmap, std::size_t offset, const std::string& where);

}  // namespace attn
