// A sentence recorded, and what becomes of it with something changed.
#pragma once

#include <optional>
#include <string>

#include "service/what_if_words.h"
#include "translate/translator.h"

namespace attn {

/// The record of a sentence: of `target` where there is one, which is scored instead of searching.
AttentionRecord record_sentence(const Translator& translator, const PreparedSentence& sentence,
                                const std::optional<std::string>& target,
                                const RecordDetail& detail);

/// The sentence as it is, and with its words swapped; where there is a target it is scored instead
/// of searching.
struct WhatIfSentences {
  PreparedSentence before;
  PreparedSentence after;
  std::optional<std::string> target = std::nullopt;
};

/// The sentence `before`, and what `words` make of it.
WhatIfSentences what_if_sentences(const Translator& translator, const WhatIfOptions& words,
                                         PreparedSentence before,
                                         std::optional<std::string> target);

/// Translates or scores both, `after` with what `words` change. What only the sentence knows (words
/// that `force` names, the best head) is found here; `changes` gets all of it, where it is asked
/// for. `after` of the result has its changes described. UsageError for what the model or the
/// sentence does not have.
WhatIfRecord apply_what_if(const Translator& translator, const WhatIfOptions& words,
                            const WhatIfSentences& sentences, const RecordDetail& detail,
                            ModelChanges* changes = nullptr);

}  // namespace attn
