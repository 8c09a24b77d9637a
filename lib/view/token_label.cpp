#include "view/token_label.h"

#include <algorithm>

#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::string_view word_mark = "▁";
constexpr std::string_view continuation_mark = "‿";

bool is_special(std::string_view token) {
  if (token.size() < 3) return false;
  return (token.starts_with('<') && token.ends_with('>')) ||
         (token.starts_with(">>") && token.ends_with("<<"));
}

}  // namespace

std::vector<std::string> token_labels(const std::vector<std::string>& tokens) {
  // A vocabulary without word marks has nothing to tell words from continuations.
  const bool marked = std::any_of(tokens.begin(), tokens.end(), [](const std::string& token) {
    return token.starts_with(word_mark);
  });
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  bool inside_word = false;  // the token before is part of a word that may go on
  for (const std::string& token : tokens) {
    std::string_view text = token;
    const bool special = is_special(text);
    const bool starts_word = text.starts_with(word_mark);
    if (starts_word && text.size() > word_mark.size()) text.remove_prefix(word_mark.size());
    std::string label = printable(text);
    if (label.find_first_not_of(' ') == std::string::npos) label = '"' + label + '"';
    if (marked && inside_word && !starts_word && !special) label.insert(0, continuation_mark);
    labels.push_back(std::move(label));
    inside_word = !special;
  }
  return labels;
}

bool continues_word(std::string_view label) {
  return label.starts_with(continuation_mark);
}

}  // namespace attn
