// Whether a record's maps belong to its tokens, before anything indexes one by the other.
#pragma once

#include "record/attention_record.h"

namespace attn {

/// InputError where a map has other rows or columns than there are tokens, or other numbers than
/// its shape says. `hypothesis` beyond the record's checks the encoder alone.
void check_map_shapes(const AttentionRecord& record, std::size_t hypothesis);

}  // namespace attn
