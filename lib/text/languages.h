// Languages that a tokenizer has tokens for: which stand around a text, and what tells the decoder
// its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct LanguageToken {
  std::string code;  ///< "deu_Latn", "de_DE", "de"; of Marian's ">>deu<<" what is inside
  int id = 0;
};

/// What makes a model write a language.
enum class TargetLanguageMethod {
  none,                 ///< it has one language
  source_language_tag,  ///< a mark before the source: Marian's >>deu<<
  forced_bos_token,     ///< the token that a translation begins with (forced_bos_token_id)
  decoder_start         ///< the token that the decoder begins with (decoder_start_token_id)
};

struct Languages {
  std::vector<LanguageToken> tokens;  ///< in order of their ids
  TargetLanguageMethod target_language_method = TargetLanguageMethod::none;
  /// Those around texts where nobody asks for others: ids, or -1.
  int source = -1, target = -1;

  /// Null: no such code.
  const LanguageToken* find(std::string_view code) const;
  bool holds(int id) const;
  /// "deu_Latn"; empty for an id that is no language's.
  std::string code_of(int id) const;
  /// Whether tokens of languages stand around its texts, and the decoder is told one.
  bool uses_language_tokens() const {
    return target_language_method == TargetLanguageMethod::forced_bos_token ||
           target_language_method == TargetLanguageMethod::decoder_start;
  }
};

/// Tokens that stand around texts in the place of the tokenizer's own; -1: those.
struct LanguageChoice {
  int source = -1;
  int target = -1;
};

/// A class of transformers' tokenizers that knows languages.
struct MultilingualTokenizerClass {
  std::string_view tokenizer_class;  ///< without "Fast"
  std::string_view source;           ///< the code that stands where none is said
  bool language_after_text = false;  ///< text, </s>, language; else language, text, </s>
  TargetLanguageMethod target_language_method = TargetLanguageMethod::forced_bos_token;
  std::string_view shape;  ///< of a token: A a capital, a a small letter, * any number of these
  std::string_view codes;  ///< its own list, in order of their ids, blanks between
};

/// "NllbTokenizer", "NllbTokenizerFast"; null for a class that knows no languages.
const MultilingualTokenizerClass* find_multilingual_tokenizer_class(
    std::string_view tokenizer_class);
/// The tokenizers whose class must be known, for messages.
std::string multilingual_tokenizer_class_names();

/// "deu_Latn" of a token of the class's shape, "de" of "__de__"; empty for any other token.
std::string code_of(const MultilingualTokenizerClass& known, std::string_view token);
/// "__de__" of "de" where the class's tokens have other texts than their codes.
std::string token_of(const MultilingualTokenizerClass& known, std::string_view code);

/// The codes of a class; M2M100's two lists are "m2m100" and "wmt21".
std::vector<std::string> codes_of(const MultilingualTokenizerClass& known,
                                  std::string_view list = "");

}  // namespace attn
