// The interface of a family of tokenizer files. Its implementations are in marian_tokenizer.cpp,
// fairseq_tokenizer.cpp, legacy_tokenizers.cpp and pipeline/tokenizer_json.cpp. Outside of lib/text
// use Tokenizer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "text/tokenizer_settings.h"
#include "text/vocabulary.h"

namespace attn {

enum class TextSide { source, target };

/// A family of tokenizer files, loaded and read-only. Texts must be clean and ids inside the
/// vocabulary.
class TokenizerKind {
 public:
  virtual ~TokenizerKind() = default;

  /// `language` replaces the tokenizer's default language token; −1 keeps it.
  virtual EncodedText encode(TextSide side, std::string_view text, int language = -1) const = 0;
  /// Decodes target ids without special tokens.
  virtual std::string decode(const std::vector<int>& ids) const = 0;
  virtual const std::string& piece(TextSide side, int id) const = 0;
  virtual int vocab_size(TextSide side) const = 0;
  /// Returns one more than the largest id that encode() gives.
  virtual int ids_in_use(TextSide side) const { return vocab_size(side); }
  virtual SpecialTokens special_tokens() const = 0;
  virtual bool separate_vocabularies() const { return false; }
  virtual const Languages& languages() const;

  /// Same as the functions of Tokenizer; a kind without sampling throws.
  virtual void require_sampling(double sampling, const std::string& where) const;
  virtual NormalizedText normalise(TextSide side, std::string_view text) const;
  virtual EncodedText sample(TextSide side, const NormalizedText& text, double sampling,
                             RandomGenerator& random) const;
};

/// Loads source.spm, target.spm and vocab.json like MarianTokenizer.
std::unique_ptr<const TokenizerKind> marian_tokenizer(const std::string& directory);
/// Loads vocab.json and merges.txt like BartTokenizer and LEDTokenizer.
std::unique_ptr<const TokenizerKind> byte_level_tokenizer(const std::string& directory);
/// Loads sentencepiece.bpe.model like MBartTokenizer, MBart50Tokenizer, NllbTokenizer or
/// M2M100Tokenizer; tokenizer_config.json must say which.
std::unique_ptr<const TokenizerKind> fairseq_tokenizer(const std::string& directory);
/// Loads spiece.model like T5Tokenizer.
std::unique_ptr<const TokenizerKind> t5_tokenizer(const std::string& directory);
/// Loads spiece.model like PegasusTokenizer.
std::unique_ptr<const TokenizerKind> pegasus_tokenizer(const std::string& directory);

/// Loads tokenizer.json like the tokenizers library.
std::unique_ptr<const TokenizerKind> json_tokenizer(const std::string& directory);

/// Reads a file of the directory. Throws InputError if it is missing.
std::string read_tokenizer_file(const std::string& directory, const char* name);

/// Returns the id of a required token. Throws InputError, beginning with `where`, if it is missing.
int required_id(const Vocabulary& vocabulary, const std::string& piece, const std::string& where);

/// Does what transformers calls clean_up_tokenization: removes spaces before English punctuation.
void clean_up_spaces(std::string& text);

/// Removes whitespace at both ends, like Python's str.strip().
std::string strip(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace attn
