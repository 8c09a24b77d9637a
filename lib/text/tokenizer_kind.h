// What one family of tokenizer files does: marian_tokenizer.cpp, json_tokenizer.cpp,
// fairseq_tokenizer.cpp, pegasus_tokenizer.cpp, t5_tokenizer.cpp, byte_level_tokenizer.cpp.
// Tokenizer is the door; nobody else includes this.
// Sources: legacy_tokenizers.cpp.
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

/// A family of files, loaded and read-only. Texts are clean; ids are inside the vocabulary.
class TokenizerKind {
 public:
  virtual ~TokenizerKind() = default;

  /// `language` stands in the place of the tokenizer's own; -1: none.
  virtual EncodedText encode(TextSide side, std::string_view text, int language = -1) const = 0;
  /// Target ids to text, special pieces left out.
  virtual std::string decode(const std::vector<int>& ids) const = 0;
  virtual const std::string& piece(TextSide side, int id) const = 0;
  virtual int vocab_size(TextSide side) const = 0;
  /// One more than the largest id that encode() gives.
  virtual int ids_in_use(TextSide side) const { return vocab_size(side); }
  virtual SpecialTokens special_tokens() const = 0;
  virtual bool separate_vocabularies() const { return false; }
  virtual const Languages& languages() const;

  /// As Tokenizer's of these names; a kind that cuts a text in one way only refuses.
  virtual void require_sampling(double sampling, const std::string& where) const;
  virtual NormalizedText normalise(TextSide side, std::string_view text) const;
  virtual EncodedText sample(TextSide side, const NormalizedText& text, double sampling,
                             RandomGenerator& random) const;
};

/// source.spm, target.spm and vocab.json, as MarianTokenizer reads them.
std::unique_ptr<const TokenizerKind> marian_tokenizer(const std::string& directory);
/// vocab.json and merges.txt, as the BartTokenizer and LEDTokenizer read them.
std::unique_ptr<const TokenizerKind> byte_level_tokenizer(const std::string& directory);
/// sentencepiece.bpe.model, as MBartTokenizer, MBart50Tokenizer, NllbTokenizer and M2M100Tokenizer
/// read it: tokenizer_config.json must say which.
std::unique_ptr<const TokenizerKind> fairseq_tokenizer(const std::string& directory);
/// spiece.model, as T5Tokenizer reads it.
std::unique_ptr<const TokenizerKind> t5_tokenizer(const std::string& directory);
/// spiece.model, as PegasusTokenizer reads it.
std::unique_ptr<const TokenizerKind> pegasus_tokenizer(const std::string& directory);

/// tokenizer.json, as the tokenizers library reads it.
std::unique_ptr<const TokenizerKind> json_tokenizer(const std::string& directory);

/// A file of the directory; InputError where it is missing.
std::string read_tokenizer_file(const std::string& directory, const char* name);

/// The id of a piece that must be there; InputError, beginning with `where`, where it is not.
int required_id(const Vocabulary& vocabulary, const std::string& piece, const std::string& where);

/// clean_up_tokenization of transformers: English punctuation goes back to its word.
void clean_up_spaces(std::string& text);

/// Without the white space around it, as Python's str.strip() takes it off.
std::string strip(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace attn
