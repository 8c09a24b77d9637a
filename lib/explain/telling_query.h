// The query that tells most about a head.
#pragma once

#include "explain/explain.h"
#include "record/attention_record.h"

namespace attn {

/// A query that shows what the head of `choice` does (its own query is not read): of all words
/// proper, the one that gives most of its weight to one other word. A decoder's row is the step
/// that writes its word. 0 where no word looks at another.
int most_informative_query(const AttentionRecord& record, const ExplainedHead& choice);

}  // namespace attn
