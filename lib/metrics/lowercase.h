// What Python's lower() does to a text before sacreBLEU counts anything.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// str.lower(): Unicode's full mapping in no language (İ becomes two characters, Σ at a word's end
/// becomes ς). Invalid bytes stay as they are.
std::string lowercase(std::string_view text);

}  // namespace attn
