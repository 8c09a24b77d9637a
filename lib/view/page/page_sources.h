// The files of lib/view/page as they were at build time, embedded by cmake/embed_page.cmake.
#pragma once

#include <span>
#include <string_view>

namespace attn {

extern const std::string_view page_template;  ///< page.html
extern const std::string_view page_style;     ///< style/
extern const std::span<const std::string_view>
    page_scripts;  ///< in the order of lib/CMakeLists.txt

}  // namespace attn
