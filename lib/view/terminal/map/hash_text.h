// Where lsh has put the tokens of a sentence, and what it found, on a terminal.
#pragma once

#include <span>
#include <string>

#include "config/attention_site.h"
#include "record/attention_maps.h"

namespace attn {

/// Of one head: a line a round with the tokens by bucket, and one that says how many rows met their
/// best key. `labels` are the tokens'; no line is wider than `width`.
std::string lsh_bucket_text(const AttentionMaps& maps, const HeadName& head,
                      std::span<const std::string> labels, int width);

}  // namespace attn
