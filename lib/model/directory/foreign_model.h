// Recognizes models of other programs, to say what they are and what to do with them.
#pragma once

#include <optional>
#include <string>

namespace attn {

/// Returns what a file or directory is and what to do, for a message after its path: "a GGUF file
/// (llama.cpp), …". Nothing if it is not a model of another program. Files are recognized by their
/// content, as far as the format has a signature.
std::optional<std::string> describe_foreign_model(const std::string& path);

/// Throws InputError if describe_foreign_model() recognizes the path.
void refuse_foreign_model(const std::string& path);

}  // namespace attn
