#include "metrics/bleu_tokenizer.h"

#include <array>
#include <utility>

#include "metrics/tokenize_13a.h"
#include "metrics/tokenize_unicode.h"
#include "metrics/unicode_text.h"

namespace attn {
namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 5> kNames = {{
    {BleuTokenizer::v13a, "13a"},
    {BleuTokenizer::intl, "intl"},
    {BleuTokenizer::zh, "zh"},
    {BleuTokenizer::chars, "char"},
    {BleuTokenizer::none, "none"},
}};

}  // namespace

std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const auto& [known, name] : kNames) {
    if (known == tokenizer) return name;
  }
  return {};
}

std::optional<BleuTokenizer> parse_bleu_tokenizer(std::string_view name) {
  for (const auto& [tokenizer, known] : kNames) {
    if (known == name) return tokenizer;
  }
  return std::nullopt;
}

NgramUnits bleu_units(std::string_view sentence, BleuTokenizer tokenizer) {
  sentence = strip_right(sentence);
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return word_units(tokenize_13a(sentence));
    case BleuTokenizer::intl:
      return word_units(tokenize_international(sentence));
    case BleuTokenizer::zh:
      return word_units(tokenize_chinese(sentence));
    case BleuTokenizer::chars:
      return character_units(sentence);
    case BleuTokenizer::none:
      break;
  }
  return word_units(sentence);
}

}  // namespace attn
