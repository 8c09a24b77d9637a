// Files that ship with the program.
#pragma once

#include <string>

namespace attn {

/// A file or directory that ships with the program (configs/demo.json): beside the executable's
/// installation, else in the source tree. InputError where there is none.
std::string shipped(const std::string& relative);

/// The same; empty where there is none.
std::string find_shipped(const std::string& relative);

/// Where shipped() looks first from now on: what is loaded as a library brings its own.
void set_shipped_root(std::string directory);

}  // namespace attn
