// What if: heads switched off, weights forced, words swapped, as they are named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/map_selection.h"
#include "translate/translator.h"

namespace attn {

struct WhatIfOptions {
  std::vector<std::string> without;  ///< KIND:LAYER[:HEAD], or best
  std::vector<std::string> force;    ///< KIND:LAYER:HEAD:QUERY=KEY, indices or words
  std::vector<std::string> swap;     ///< POSITION=WORD or OLD=NEW

  bool given() const { return !without.empty() || !force.empty() || !swap.empty(); }

  /// What is changed in the model; UsageError for what the model does not have. Words that
  /// `force` names are looked up in the record, and are −1 where there is none yet; the best head
  /// that `without` names is then none yet, either.
  ModelChanges changes(const ModelSummary& model, const AttentionRecord* record = nullptr) const;

  /// Whether words or the best head are named, so that changes() needs the record of the sentence
  /// as it is translated without them.
  bool needs_record() const;

  /// The sentence with its words replaced; a final mark of an old word stays where the new one has
  /// none. UsageError where the sentence has no such word.
  std::string with_swapped_words(const std::string& sentence) const;

  /// The changes as a person reads them, one a line.
  std::vector<std::string> described(const ModelChanges& changes) const;

  /// The maps to show where nothing else is asked for: of the heads that are changed.
  MapSelection selection(const ModelChanges& changes) const;

 private:
  bool has_best() const;
};

// A sentence recorded, and what becomes of it with something changed.

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
                                  PreparedSentence before, std::optional<std::string> target);

/// Translates or scores both, `after` with what `words` change. What only the sentence knows (words
/// that `force` names, the best head) is found here; `changes` gets all of it, where it is asked
/// for. `after` of the result has its changes described. UsageError for what the model or the
/// sentence does not have.
WhatIfRecord apply_what_if(const Translator& translator, const WhatIfOptions& words,
                           const WhatIfSentences& sentences, const RecordDetail& detail,
                           ModelChanges* changes = nullptr);

}  // namespace attn
