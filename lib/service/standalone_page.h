// One HTML file that translates alone: the live page with the program as WebAssembly and a model
// inside.
#pragma once

#include <string>

#include "model/directory/safetensors.h"
#include "service/model/model_choice.h"

namespace attn {

/// The page, whose model's weights are written as `dtype`: of I8 its products are those of
/// `--precision int8`. It begins with a sentence's record, so that there is something to look at
/// before the program runs, or where it cannot. InputError where the program was built without the
/// module (scripts/build_web.sh), or the model cannot be written so; `version` is the program's.
std::string standalone_page(const ModelChoice& model, DType dtype, const std::string& version);

}  // namespace attn
