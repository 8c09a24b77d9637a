// What the libraries throw, as Python's exceptions.
#pragma once

namespace attn {

/// attn::Error becomes the class of attn_demo.errors with its exit code, and memory that runs out
/// OutOfMemoryError; the text is the program's line. Call it once, while the module is made.
void register_exceptions();

}  // namespace attn
