# Link attn_warnings to a target of ours; headers of the libraries are system headers and stay quiet.
add_library(attn_warnings INTERFACE)
target_compile_options(attn_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wconversion -Wsign-conversion
  -Wformat=2 $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # GCC 12 warns of "a" + std::string, bug 105329
  $<$<BOOL:${ATTN_WERROR}>:-Werror>)
