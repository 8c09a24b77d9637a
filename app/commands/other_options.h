// Names that other programs give to options and config keys which have no entry in the option
// table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Returns the options and config keys that transformers, CTranslate2, Marian, fairseq or OpenNMT
/// call `other_name`, in snake case: "model" for "model_name_or_path", "train.learning_rate" for
/// "learn_rate". Config keys contain a dot; an empty name means that attn-demo has nothing like it,
/// whatever looks similar.
std::vector<std::string> options_of_other_program(std::string_view other_name);

}  // namespace attn
