#include "text/pipeline/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/pipeline/text_patterns.h"

namespace attn {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) trie_.add(tokens_[i].text, to_int(i));
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  const auto append = [&](std::size_t end) {
    if (done < end) parts.push_back({text.substr(done, end - done), std::nullopt});
  };
  for (std::size_t begin = 0; begin < text.size() && !tokens_.empty();) {
    std::size_t length = 0;
    int longest = 0;
    trie_.each_prefix(text.substr(begin), [&](std::size_t found, int token) {
      length = found;
      longest = token;
    });
    if (length == 0) {
      ++begin;
      continue;
    }
    const AddedToken& token = at(tokens_, longest);
    std::size_t first = begin;
    std::size_t end = begin + length;
    begin = end;
    const bool in_word = token.single_word && (ends_with_word_character(text.substr(0, first)) ||
                                               begins_with_word_character(text.substr(end)));
    if (token.typed_as_text || in_word) continue;
    if (token.lstrip)
      first = std::max(done, first - trailing_whitespace_bytes(text.substr(0, first)));
    if (token.rstrip) end += leading_whitespace_bytes(text.substr(end));
    append(first);
    parts.push_back({text.substr(first, end - first), token.id});
    done = end;
    begin = std::max(begin, end);
  }
  append(text.size());
  return parts;
}

void check_added_token(const AddedToken& token, std::size_t pieces, const std::string* taken,
                       const std::string& where) {
  if (taken != nullptr && *taken != token.text) {
    throw InputError(
        "{}: \"{}\" has id {}, which is the piece \"{}\" already; expected an id of "
        "its own",
        where, excerpt(token.text), token.id, excerpt(*taken));
  }
  if (taken == nullptr && to_size(token.id) != pieces) {
    throw InputError("{}: \"{}\" has id {}, and id {} has no piece; expected each id once", where,
                     excerpt(token.text), token.id, pieces);
  }
}

}  // namespace attn
