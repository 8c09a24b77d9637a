// Files that ship with the program.
#pragma once

#include <string>

namespace attn {

/// Returns a file or directory that ships with the program (configs/demo.json): in the
/// executable's installation, or else in the source tree. Throws InputError if there is none.
std::string shipped(const std::string& relative);

/// Returns the same; empty if there is none.
std::string find_shipped(const std::string& relative);

/// Sets the directory where shipped() looks first, for a library that brings its own files.
void set_shipped_root(std::string directory);

}  // namespace attn
