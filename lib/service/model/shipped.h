// Files that ship with the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Returns a file or directory that ships with the program (configs/demo.json): in the
/// executable's installation, or else in the source tree. Throws InputError if there is none.
std::string shipped(const std::string& relative);

/// Returns the same; empty if there is none.
std::string find_shipped(const std::string& relative);

/// The model that is opened if none is named.
inline constexpr const char* default_model_name = "data/models/en-de";

/// Returns the directory of the shipped model `name` ("de-en" or "data/models/de-en"); empty if
/// there is none.
std::string find_shipped_model(std::string_view name);

/// Returns the names of the shipped models ("data/models/de-en"): the default one first, the
/// others in alphabetical order.
std::vector<std::string> shipped_models();

/// Sets the directory where shipped() looks first, for a library that brings its own files.
void set_shipped_root(std::string directory);

}  // namespace attn
