// The results of lib/why as one CSV table.
#pragma once

#include <string>

#include "why/why.h"

namespace attn {

/// Returns a table with the columns method, layer, head, row, row_token, column, column_token,
/// value. `method` is the JSON's key ("receipt.word.cross"). A row is a step, named by the token
/// that it writes, or a source token in the encoder; a column is a token that the value is about.
/// Cells without a meaning are empty.
std::string why_csv(const Why& why);

}  // namespace attn
