// What the analysis of a record's own maps adds to it, for the views.
#pragma once

#include "analysis/alignment.h"
#include "record/attention_record.h"

namespace attn {

struct AnnotationOptions {
  bool report = false;                        ///< the figures of every head
  std::optional<AlignmentOptions> alignment;  ///< a word alignment for each hypothesis
};

/// Puts them into the record. "best" is the best head of each hypothesis alone, unless the caller
/// has resolved it before. InputError and UsageError as align() and HeadStatistics have them.
void annotate(AttentionRecord& record, const AnnotationOptions& wanted);

}  // namespace attn
