#include "text/sentencepiece/normaliser.h"

#include <utility>

#include "base/strings/utf8.h"

namespace attn {

SentencePieceNormalizer::SentencePieceNormalizer(const NormalizerSpec& rules, bool blank_at_end, PieceTrie user_defined)
    : rules_(rules), blank_at_end_(blank_at_end), user_defined_(std::move(user_defined)) {
  if (!rules.charsmap.empty()) charsmap_.emplace(rules.charsmap);
}

SentencePieceNormalizer::Step SentencePieceNormalizer::step(std::string_view text) const {
  std::size_t defined = 0;
  user_defined_.each_prefix(text, [&](std::size_t length, int) { defined = length; });
  if (defined > 0) return {text.substr(0, defined), defined};
  if (charsmap_) {
    if (const auto rule = charsmap_->longest(text)) return {rule->replacement, rule->length};
  }
  const std::size_t length = decode_code_point(text).length;
  return {text.substr(0, length), length};
}

std::string SentencePieceNormalizer::normalise(std::string_view text) const {
  const std::string_view blank = rules_.escape_whitespaces ? kSpaceSymbol : " ";
  std::string out;
  bool after_blank = rules_.remove_extra_whitespaces;
  bool begun = false;
  while (!text.empty()) {
    Step next = step(text);
    text.remove_prefix(next.length);
    // A beginning that becomes more than a blank ends what is left out before the text.
    if (!begun && rules_.remove_extra_whitespaces && next.text == " ") continue;
    if (!begun && rules_.add_dummy_prefix && !blank_at_end_) out += blank;
    begun = true;
    while (after_blank && next.text.starts_with(' ')) next.text.remove_prefix(1);
    for (const char c : next.text) {
      if (c == ' ') {
        out += blank;
      } else {
        out += c;
      }
    }
    if (!next.text.empty()) after_blank = rules_.remove_extra_whitespaces && next.text.ends_with(' ');
  }
  if (!begun) return {};
  while (rules_.remove_extra_whitespaces && out.ends_with(blank)) out.resize(out.size() - blank.size());
  if (rules_.add_dummy_prefix && blank_at_end_) out += blank;
  return out;
}

}  // namespace attn
