// What other programs and papers call the keys of experiment files.
#pragma once

#include <string>
#include <vector>

namespace attn {

/// Those of `known` that other programs call `word`: for "heads" encoder_attention_heads and
/// decoder_attention_heads. Empty where nobody does.
std::vector<std::string> keys_for_alias(const std::string& word,
                                     const std::vector<std::string>& known);

}  // namespace attn
