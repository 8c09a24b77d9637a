// From here to end_target.h, every function is compiled for the instruction sets that the including
// file names:
//
//   #define ATTN_TARGET "avx2,fma,f16c"
//   #include "compute/kernels/begin_target.h"
//   … functions in unnamed namespaces …
//   #include "compute/kernels/end_target.h"
//
// Each function in between must have internal linkage. If several objects define the same inline
// function, the linker keeps one, and an older CPU might run code compiled for a newer one. For
// that reason standard headers must be included before this one. (scripts/check_cpu_code.sh
// verifies the objects.)
#ifndef ATTN_TARGET
#error "ATTN_TARGET must name instruction sets"
#endif

#define ATTN_PRAGMA_OF(text) _Pragma(#text)
#define ATTN_PRAGMA(text) ATTN_PRAGMA_OF(text)  // expands macros in `text` first
#ifdef __clang__
ATTN_PRAGMA(clang attribute push(__attribute__((target(ATTN_TARGET))), apply_to = function))
#else
#pragma GCC push_options
ATTN_PRAGMA(GCC target(ATTN_TARGET))
#endif
#undef ATTN_PRAGMA
#undef ATTN_PRAGMA_OF
