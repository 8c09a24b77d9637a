// Terms: words of the source, and what the translation must contain where they occur.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "translate/search/search.h"

namespace attn {

struct Term {
  std::string source;
  std::vector<std::string> targets;  ///< one of these forms must be in the translation
};

/// Returns the term as the user gave it: "house=Haus|Gebäude".
std::string term_name(const Term& term);

/// Returns the note about a term that no translation contains.
std::string unfulfilled_note(const std::string& term_name);

/// Counts where a term's source occurs in a text as whole words. A term that begins with a
/// lower-case letter also occurs with a capital ("House" at the start of a sentence). At each
/// position only the longest term counts, so "hard drive" hides "drive".
std::vector<int> count_terms(const std::vector<Term>& terms, std::string_view text);

/// Returns the terms of a sentence as tokens, each form as the tokenizer splits it at the start of
/// a sentence and inside it. A form with unknown tokens is left out. If a term has no form left,
/// `say` receives a note. The tokenizer must outlive the result.
SentenceTerms sentence_terms(const std::vector<Term>& terms, std::string_view text,
                             const Tokenizer& tokenizer,
                             const std::function<void(const std::string&)>& say);

/// Returns the settings for a batch of one sentence, whose terms are in `terms`. Without terms
/// they do not change; with terms, there are at least 8 beams and one for each token of the terms,
/// up to 32, unless `decode` has more. The length penalty is then at most 0.5: a mean over the
/// length would favor long translations that continue after their end just to add the term.
DecodeConfig with_beams_for(const DecodeConfig& decode, const std::vector<SentenceTerms>& terms);

}  // namespace attn
