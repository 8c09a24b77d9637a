#include <algorithm>

#include "translate/search/term_search.h"
#include "translate/translator.h"

namespace attn {
namespace {

bool lacks(const std::vector<SearchHypothesis>& found, const SentenceTerm& term) {
  return missing_term_tokens({term}, found.empty() ? std::span<const int>() : found.front().ids) >
         0;
}

}  // namespace

/// Returns the terms of each sentence that is not empty; nothing if no sentence has any.
std::vector<SentenceTerms> Translator::terms_of(std::span<const PreparedSentence> sentences,
                                                const TranslationSettings& settings) const {
  std::vector<SentenceTerms> terms;
  if (settings.terms.empty()) return terms;
  for (const PreparedSentence& sentence : sentences) {
    if (sentence.empty()) continue;
    std::string_view text = sentence.text;
    if (text.starts_with(settings.prefix)) text.remove_prefix(settings.prefix.size());
    terms.push_back(sentence_terms(settings.terms, text, tokenizer_, [&](const std::string& note) {
      if (settings.term_note) settings.term_note(sentence.text, note);
    }));
  }
  const bool any = std::ranges::any_of(terms, [](const SentenceTerms& t) { return !t.empty(); });
  return any ? terms : std::vector<SentenceTerms>();
}

/// Notes the terms that the best hypothesis lacks.
void Translator::note_missing(const SentenceTerms& terms, const PreparedSentence& sentence,
                              const std::vector<SearchHypothesis>& found,
                              const TranslationSettings& settings) const {
  if (!settings.term_note) return;
  for (const SentenceTerm& term : terms) {
    if (!lacks(found, term)) continue;
    settings.term_note(sentence.text, unfulfilled_note(term.name));
  }
}

/// Searches a batch in which some sentences have terms, one after the other: each has its own
/// number of beams, and those without terms get what they get alone. If no translation contains all
/// terms of a sentence, it is searched again without those that the first one lacks.
SearchResults Translator::search_with_terms(std::span<const PreparedSentence> sentences,
                                            const std::vector<SentenceTerms>& terms,
                                            const TranslationSettings& settings,
                                            const SearchContext& context) const {
  const DecodeConfig plain = searchable(settings.decode);
  SearchResults results;
  auto next = terms.begin();
  for (const PreparedSentence& sentence : sentences) {
    if (sentence.empty()) continue;
    PackedTokens source;
    source.add(sentence.ids);
    std::vector<SentenceTerms> own(1, *next++);
    std::vector<SearchHypothesis> found;
    const auto missing = [&](const SentenceTerm& term) { return lacks(found, term); };
    do {
      SearchContext one = context;
      one.terms = own;
      found = std::move(search(models_, source, with_beams_for(plain, own), one).front());
      note_missing(own.front(), sentence, found, settings);
    } while (std::erase_if(own.front(), missing) > 0);
    results.push_back(std::move(found));
  }
  return results;
}

}  // namespace attn
