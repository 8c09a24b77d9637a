// The languages that a tokenizer has tokens for, where these tokens go, and how the decoder learns
// its target language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct LanguageToken {
  std::string code;  ///< "deu_Latn", "de_DE" or "de"; for Marian, the inside of ">>deu<<"
  int id = 0;
};

/// The way a model learns its target language.
enum class TargetLanguageMethod {
  none,                 ///< the model has one target language
  source_language_tag,  ///< a tag before the source: Marian's >>deu<<
  forced_bos_token,     ///< the first token of a translation (forced_bos_token_id)
  decoder_start         ///< the first token of the decoder's input (decoder_start_token_id)
};

struct Languages {
  std::vector<LanguageToken> tokens;  ///< in order of their ids
  TargetLanguageMethod target_language_method = TargetLanguageMethod::none;
  /// The default languages: token ids, or −1.
  int source = -1, target = -1;

  /// Returns the token of a language code, or null.
  const LanguageToken* find(std::string_view code) const;
  bool holds(int id) const;
  /// Returns the code of a language token ("deu_Latn"), or "" for any other id.
  std::string code_of(int id) const;
  /// True if language tokens surround the texts and the decoder gets one.
  bool uses_language_tokens() const {
    return target_language_method == TargetLanguageMethod::forced_bos_token ||
           target_language_method == TargetLanguageMethod::decoder_start;
  }
};

/// Language tokens that replace the tokenizer's defaults; −1 keeps the default.
struct LanguageChoice {
  int source = -1;
  int target = -1;
};

/// A tokenizer class of transformers with several languages.
struct MultilingualTokenizerClass {
  std::string_view tokenizer_class;  ///< without "Fast"
  std::string_view source;           ///< the code of the default source language
  /// True for the order text, </s>, language; false for language, text, </s>.
  bool language_after_text = false;
  TargetLanguageMethod target_language_method = TargetLanguageMethod::forced_bos_token;
  std::string_view shape;  ///< of a token: A for a capital, a for a lower-case letter, * repeats
                           ///< any number of times
  std::string_view codes;  ///< the class's own list, in order of the ids, separated by spaces
};

/// Accepts "NllbTokenizer" and "NllbTokenizerFast"; returns null for a class without languages.
const MultilingualTokenizerClass* find_multilingual_tokenizer_class(
    std::string_view tokenizer_class);
/// Returns the names of the tokenizer classes that must be known, for messages.
std::string multilingual_tokenizer_class_names();

/// Returns the code of a language token ("de" for "__de__") if it has the class's shape; otherwise
/// "".
std::string code_of(const MultilingualTokenizerClass& known, std::string_view token);
/// Returns the token of a code ("__de__" for "de") for classes whose tokens differ from their
/// codes.
std::string token_of(const MultilingualTokenizerClass& known, std::string_view code);

/// Returns the codes of a class; M2M100's two lists are "m2m100" and "wmt21".
std::vector<std::string> codes_of(const MultilingualTokenizerClass& known,
                                  std::string_view list = "");

}  // namespace attn
