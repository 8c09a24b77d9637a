// The what-if experiments in the notation of the options: disabled heads, forced weights and
// swapped words.
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

  /// Returns the changes to the model. Looks up the words in `force` and the best head of `without`
  /// in the record; without a record, such words are −1 and such a head is not set. Throws
  /// UsageError for layers, heads and words that the model or the record does not have.
  ModelChanges changes(const ModelSummary& model, const AttentionRecord* record = nullptr) const;

  /// True if words or the best head are named. Then changes() needs a record of the sentence as
  /// translated without the changes.
  bool needs_record() const;

  /// Returns the sentence with its words swapped. Punctuation at the end of an old word stays if
  /// the new word has none. Throws UsageError if the sentence has no such word.
  std::string with_swapped_words(const std::string& sentence) const;

  /// Returns a readable description of each change.
  std::vector<std::string> described(const ModelChanges& changes) const;

  /// Returns the maps to show by default: those of the changed heads.
  MapSelection selection(const ModelChanges& changes) const;

 private:
  bool has_best() const;
};

// Recording a sentence, without and with changes.

/// Returns the record of a sentence; a given `target` is scored instead of searching.
AttentionRecord record_sentence(const Translator& translator, const TranslationSettings& settings,
                                const PreparedSentence& sentence,
                                const std::optional<std::string>& target,
                                const RecordDetail& detail);

/// An experiment with one sentence.
struct WhatIfRequest {
  const WhatIfOptions& options;
  PreparedSentence before;
  PreparedSentence after;                            ///< `before` with its words swapped
  std::optional<std::string> target = std::nullopt;  ///< scored instead of searching
};

/// Makes a request for `before`, with the words swapped as the options say.
WhatIfRequest what_if_request(const Translator& translator, const TranslationSettings& settings,
                              const WhatIfOptions& options, PreparedSentence before,
                              std::optional<std::string> target);

/// Translates or scores both sentences, `after` with the changes of the options, and scores the
/// first translation of `before` under the changes. Only the sentence tells which tokens the words
/// in `force` are and which head is the best; `changes`, if not null, receives the result. The
/// second record describes its changes and has no search tree. Throws UsageError for layers, heads,
/// words or positions that the model or the sentence does not have, and InputError for a sentence
/// without tokens.
WhatIfRecord apply_what_if(const Translator& translator, const TranslationSettings& settings,
                           const WhatIfRequest& request, const RecordDetail& detail,
                           ModelChanges* changes = nullptr);

}  // namespace attn
