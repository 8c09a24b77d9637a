#include "text/pipeline/pipeline.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/byte_level_bpe.h"

namespace attn {
namespace {

std::string normalised(const std::vector<Normalizer>& normalizers, std::string text) {
  for (const Normalizer& normalize : normalizers) text = normalize(text);
  return text;
}

class PipelineTokenizer : public TokenizerKind {
 public:
  explicit PipelineTokenizer(Pipeline pipeline) : p_(std::move(pipeline)) {
    shown_.reserve(p_.pieces.size());
    for (std::size_t id = 0; id < p_.pieces.size(); ++id) {
      const bool readable = p_.pieces_are_byte_level && !p_.is_special[id];
      shown_.push_back(readable ? readable_token(p_.pieces[id]) : p_.pieces[id]);
      if (!p_.is_special[id]) in_use_ = to_int(id) + 1;
    }
    for (const SpecialTokensTemplate* frame : {&p_.source, &p_.target}) {
      for (const auto* ids : {&frame->before, &frame->after}) {
        for (const int id : *ids) in_use_ = std::max(in_use_, id + 1);
      }
    }
    for (const LanguageToken& language : p_.languages.tokens) {
      in_use_ = std::max(in_use_, language.id + 1);
    }
    in_use_ = std::max(in_use_, p_.special.pad + 1);
  }

  EncodedText encode(TextSide side, std::string_view text, int language) const override {
    EncodedText encoded;
    const SpecialTokensTemplate& frame = side == TextSide::source ? p_.source : p_.target;
    const auto add_around = [&](const std::vector<int>& ids) {
      for (const int id : ids) {
        add(language >= 0 && p_.languages.holds(id) ? language : id, encoded);
      }
    };
    add_around(frame.before);
    for (const AddedTokens::Part& part : p_.added_tokens.split(text)) {
      if (part.token) {
        add(*part.token, encoded);
      } else {
        encode_part(std::string(part.text), part.text.data() == text.data(), encoded);
      }
    }
    add_around(frame.after);
    encoded.suffix_length = frame.after.size();
    return encoded;
  }

  std::string decode(const std::vector<int>& ids) const override {
    std::vector<std::string> tokens;
    for (const int id : ids) {
      if (p_.ids_without_piece.contains(id)) {
        tokens.push_back(at(p_.pieces, p_.special.unk));
        continue;
      }
      if (at(p_.is_special, id)) continue;
      const auto other = p_.decoded_texts.find(id);
      tokens.push_back(other == p_.decoded_texts.end() ? at(p_.pieces, id) : other->second);
    }
    for (const TokenDecoder& decoder : p_.decoders) tokens = decoder(std::move(tokens));
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (p_.join_with_spaces && i > 0) text += ' ';
      text += tokens[i];
    }
    if (p_.clean_up_spaces) clean_up_spaces(text);
    return text;
  }

  const std::string& piece(TextSide, int id) const override { return at(shown_, id); }
  int vocab_size(TextSide) const override { return to_int(p_.pieces.size()); }
  int ids_in_use(TextSide) const override { return in_use_; }
  SpecialTokens special_tokens() const override { return p_.special; }
  const Languages& languages() const override { return p_.languages; }

 private:
  void add(int id, EncodedText& encoded) const {
    encoded.ids.push_back(id);
    encoded.pieces.push_back(at(shown_, id));
  }

  void encode_part(std::string text, bool at_start, EncodedText& encoded) const {
    text = normalised(p_.normalizers, std::move(text));
    for (const AddedTokens::Part& part : p_.normalized_added_tokens.split(text)) {
      if (part.token) {
        add(*part.token, encoded);
        continue;
      }
      const bool first = at_start && part.text.data() == text.data();
      for (const PreToken& word : words_of({std::string(part.text), first})) {
        const std::size_t before = encoded.ids.size();
        p_.subword_model->tokenize(word.text, encoded);
        if (!p_.pieces_are_byte_level) continue;
        for (std::size_t i = before; i < encoded.ids.size(); ++i) {
          encoded.pieces[i] = at(shown_, encoded.ids[i]);
        }
      }
    }
  }

  std::vector<PreToken> words_of(PreToken text) const {
    std::vector<PreToken> words;
    if (!text.text.empty()) words.push_back(std::move(text));
    for (const PreTokenizer& cut : p_.pre_tokenizers) {
      std::vector<PreToken> parts;
      for (const PreToken& word : words) {
        for (PreToken& part : cut(word)) {
          if (!part.text.empty()) parts.push_back(std::move(part));
        }
      }
      words = std::move(parts);
    }
    return words;
  }

  Pipeline p_;
  int in_use_ = 0;
  std::vector<std::string> shown_;  ///< [V] readable form of the tokens
};

}  // namespace

std::unique_ptr<const TokenizerKind> pipeline_tokenizer(Pipeline pipeline) {
  return std::make_unique<PipelineTokenizer>(std::move(pipeline));
}

void add_tokens(Pipeline& pipeline, const std::vector<AddedToken>& tokens,
                const std::string& where) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> in_normalised;
  pipeline.is_special.resize(pipeline.pieces.size());
  for (const AddedToken& token : tokens) {
    std::vector<std::string>& pieces = pipeline.pieces;
    const bool known = to_size(token.id) < pieces.size();
    check_added_token(token, pieces.size(), known ? &pieces[to_size(token.id)] : nullptr, where);
    if (!known) pieces.push_back(token.text);
    pipeline.is_special.resize(pipeline.pieces.size());
    if (token.special) at(pipeline.is_special, token.id) = true;
    AddedToken found = token;
    if (token.normalized) found.text = normalised(pipeline.normalizers, token.text);
    // The text to which the library decodes the token.
    if (found.text != token.text) pipeline.decoded_texts[token.id] = found.text;
    if (!found.text.empty()) (token.normalized ? in_normalised : raw).push_back(found);
  }
  pipeline.added_tokens = AddedTokens(std::move(raw));
  pipeline.normalized_added_tokens = AddedTokens(std::move(in_normalised));
}

// The languages of a pipeline, and the positions of their tokens around a text.
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
      "{}: {} is {}, and the tokenizer has no token for it; expected one of its {}: {} …", where,
      key, excerpt(code), languages.tokens.size(), fmt::join(some, ", "));
}

}  // namespace

void add_language_tokens(Pipeline& p, const TokenizerSettings& settings, const std::string& where) {
  const MultilingualTokenizerClass* known =
      find_multilingual_tokenizer_class(settings.tokenizer_class);
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
