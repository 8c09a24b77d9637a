#include "translate/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "translate/search/term_search.h"

namespace attn {
namespace {

/// True for letters and digits. Symbols and punctuation beyond ASCII occupy only a few blocks.
bool is_word_character(char32_t c) {
  if (c < 0x80) {
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9');
  }
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  const bool symbol = c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2C00) ||
                      (c >= 0x3000 && c < 0x3040) || (c >= 0xFF00 && c < 0xFF10);
  return !symbol;
}

char32_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && is_continuation_byte(text[at])) --at;
  return decode_code_point(text.substr(at)).value;
}

/// Converts a small ASCII or Latin-1 letter to a capital.
char32_t capital(char32_t c) {
  const bool small = (c >= U'a' && c <= U'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7);
  return small ? c - 0x20 : c;
}

/// True if `word` begins at byte `at` of the text and is not part of a longer word.
bool occurs_at(std::string_view text, std::size_t at, std::string_view word) {
  const std::string_view rest = text.substr(at);
  const CodePoint first = decode_code_point(word), found = decode_code_point(rest);
  if (found.value != first.value && found.value != capital(first.value)) return false;
  if (rest.substr(found.length, word.size() - first.length) != word.substr(first.length)) {
    return false;
  }
  const std::string_view after = rest.substr(found.length + word.size() - first.length);
  const bool cut_before = at > 0 && is_word_character(first.value) &&
                          is_word_character(last_character(text.substr(0, at)));
  const bool cut_after = !after.empty() && is_word_character(last_character(word)) &&
                         is_word_character(decode_code_point(after).value);
  return !cut_before && !cut_after;
}

/// Returns the tokens of a text, without special tokens; nothing if some are unknown.
std::optional<std::vector<int>> body(const Tokenizer& tokenizer, const std::string& text) {
  const EncodedText empty = tokenizer.encode_target("");
  EncodedText encoded = tokenizer.encode_target(text);
  const std::size_t prefix = empty.ids.size() - std::min(empty.ids.size(), empty.suffix_length);
  if (encoded.unknown > 0 || encoded.ids.size() <= prefix + encoded.suffix_length) return {};
  return std::vector<int>(encoded.ids.begin() + to_index(prefix),
                          encoded.ids.end() - to_index(encoded.suffix_length));
}

/// Adds the tokens of a form at the start of a sentence and after a word.
void add_forms(const Tokenizer& tokenizer, const std::string& target,
               std::vector<std::vector<int>>& forms) {
  const auto add = [&](std::vector<int> ids) {
    if (!ids.empty() && std::ranges::find(forms, ids) == forms.end()) forms.push_back(ids);
  };
  const auto start = body(tokenizer, target);
  if (!start) return;
  add(*start);
  const auto word = body(tokenizer, "a"), inside = body(tokenizer, "a " + target);
  if (word && inside && inside->size() > word->size() &&
      std::equal(word->begin(), word->end(), inside->begin())) {
    add({inside->begin() + std::ssize(*word), inside->end()});
  }
}

/// True if a token continues the word with which a form ends. Other tokens begin a word, or are
/// punctuation or the end.
bool continues_word(const Tokenizer& tokenizer, const std::vector<int>& form, int next) {
  const std::string word = tokenizer.decode_target(form);
  std::vector<int> longer = form;
  longer.push_back(next);
  const std::string text = tokenizer.decode_target(longer);
  return !word.empty() && text.size() > word.size() && text.starts_with(word) &&
         is_word_character(last_character(word)) &&
         is_word_character(decode_code_point(std::string_view(text).substr(word.size())).value);
}

std::string joined(const std::vector<std::string>& targets) {
  return fmt::format("{}", fmt::join(targets, "|"));
}

}  // namespace

std::string term_name(const Term& term) {
  return term.source + "=" + joined(term.targets);
}

std::string unfulfilled_note(const std::string& term_name) {
  return fmt::format(
      "term {}: no translation contains it within max_length and the other rules, so the "
      "translation was made without it",
      excerpt(term_name));
}

std::vector<int> count_terms(const std::vector<Term>& terms, std::string_view text) {
  std::vector<int> counts(terms.size());
  for (std::size_t at = 0; at < text.size();) {
    std::optional<std::size_t> longest;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const bool longer = !longest || terms[i].source.size() > terms[*longest].source.size();
      if (longer && occurs_at(text, at, terms[i].source)) longest = i;
    }
    if (longest) {
      ++counts[*longest];
      const std::size_t first = decode_code_point(terms[*longest].source).length;
      at += decode_code_point(text.substr(at)).length + terms[*longest].source.size() - first;
    } else {
      at += decode_code_point(text.substr(at)).length;
    }
  }
  return counts;
}

SentenceTerms sentence_terms(const std::vector<Term>& terms, std::string_view text,
                             const Tokenizer& tokenizer,
                             const std::function<void(const std::string&)>& say) {
  SentenceTerms found;
  const std::vector<int> counts = count_terms(terms, text);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (counts[i] == 0) continue;
    SentenceTerm term{term_name(terms[i]), {}, counts[i]};
    term.continues = [&tokenizer](const std::vector<int>& form, int next) {
      return continues_word(tokenizer, form, next);
    };
    for (const std::string& target : terms[i].targets) add_forms(tokenizer, target, term.forms);
    if (!term.forms.empty()) {
      found.push_back(std::move(term));
    } else if (say) {
      say(fmt::format(
          "term {}: the model has no tokens for {}, so the translation was made without it",
          excerpt(term.name), excerpt(joined(terms[i].targets))));
    }
  }
  return found;
}

DecodeConfig with_beams_for(const DecodeConfig& decode, const std::vector<SentenceTerms>& terms) {
  constexpr int kFewest = 8, kMost = 32;
  constexpr float kMostLengthPenalty = 0.5F;
  DecodeConfig own = decode;
  if (terms.empty() || terms.front().empty()) return own;
  own.length_penalty = std::min(decode.length_penalty, kMostLengthPenalty);
  const int tokens = missing_term_tokens(terms.front(), {});
  own.num_beams = std::max(decode.num_beams, std::clamp(1 + tokens, kFewest, kMost));
  return own;
}

}  // namespace attn
