// The languages of a pipeline, and where their tokens stand around a text.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "text/pipeline/pipeline.h"

namespace attn {
namespace {

int language_of(const Languages& languages, const std::string& code, const char* key,
                const std::string& where) {
  if (const LanguageToken* found = languages.find(code)) return found->id;
  std::vector<std::string> some;
  for (const LanguageToken& token : languages.tokens) {
    if (some.size() == 3) break;
    some.push_back(token.code);
  }
  throw InputError(
      "{}: {} is {}, for which the tokenizer has no token; expected one of its {}: {} …", where,
      key, excerpt(code), languages.tokens.size(), fmt::join(some, ", "));
}

}  // namespace

void add_language_tokens(Pipeline& p, const TokenizerSettings& settings, const std::string& where) {
  const MultilingualTokenizerClass* known = find_multilingual_tokenizer_class(settings.tokenizer_class);
  if (known == nullptr) return;
  Languages& languages = p.languages;
  for (std::size_t id = 0; id < p.pieces.size(); ++id) {
    std::string code = p.is_special[id] ? code_of(*known, p.pieces[id]) : "";
    if (!code.empty()) languages.tokens.push_back({std::move(code), to_int(id)});
  }
  if (languages.tokens.empty()) return;
  const auto said = [](const std::string& code, std::string_view otherwise) {
    return code.empty() ? std::string(otherwise) : code;
  };
  const std::string source = said(settings.source_language, known->source);
  languages.target_language_method = known->target_language_method;
  languages.source = language_of(languages, source, "src_lang", where);
  languages.target =
      language_of(languages, said(settings.target_language, source), "tgt_lang", where);
  const auto around = [&](int language) {
    if (known->language_after_text || settings.legacy_behaviour) {
      return SpecialTokensTemplate{{}, {p.special.eos, language}};
    }
    return SpecialTokensTemplate{{language}, {p.special.eos}};
  };
  p.source = around(languages.source);
  p.target = around(languages.target);
}

}  // namespace attn
