// Text to ids and back, exactly as transformers' tokenizers do it with these files:
//   source.spm, target.spm, vocab.json   MarianTokenizer: SentencePiece models plus a vocabulary
//   tokenizer.json                       the tokenizers library's single file: BART, T5, NLLB …
//   sentencepiece.bpe.model              mBART, NLLB and M2M100, depending on tokenizer_class
//   spiece.model                         T5Tokenizer, PegasusTokenizer
//   vocab.json, merges.txt               BartTokenizer, LEDTokenizer: byte-level BPE
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/languages.h"

namespace attn {

struct EncodedText {
  std::vector<int> ids;             ///< ends in the end symbol, or in a language token
  std::vector<std::string> pieces;  ///< the tokens as text; ends in "</s>"
  std::size_t unknown = 0;          ///< number of tokens that the vocabulary does not contain
  /// Tokens after the text: the end symbol, and for some tokenizers a language token.
  std::size_t suffix_length = 1;
};

/// A normalized text, from which random segmentations are sampled.
struct NormalizedText {
  std::string language_tag;  ///< ">>deu<<", which becomes one token; or empty
  std::string text;          ///< the rest of the text, normalized by the SentencePiece model
};

/// Token ids that the tokenizer's files define.
struct SpecialTokens {
  int eos = 0;
  int unk = 1;
  int pad = 0;
};

/// Throws InputError if the directory's files name ByT5's tokenizer, which has no vocabulary file:
/// its tokens are bytes.
void refuse_byte_model(const std::string& directory);

class TokenizerKind;

/// The tokenizer of a model directory, loaded once and read-only afterwards.
class Tokenizer {
 public:
  /// Throws SystemError if a file cannot be read, and InputError (exit 3) if one is missing or
  /// damaged. SentencePiece files are bounds-checked before the library reads them, vocab.json must
  /// use every id from 0 to its size minus 1 exactly once, and merges.txt may contain only tokens
  /// of vocab.json.
  explicit Tokenizer(const std::string& directory);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Encodes a clean text (base/strings/utf8.h). Special tokens typed in it are ordinary text,
  /// except for a leading language tag >>xxx<<, which becomes one token.
  /// `language` is the token of one of languages() that replaces the tokenizer's default; −1 keeps
  /// it. For Marian it is the tag to use if the text begins with none.
  EncodedText encode_source(std::string_view text, int language = -1) const;
  EncodedText encode_target(std::string_view text, int language = -1) const;

  /// Throws InputError, beginning with `where`, unless both SentencePiece models support sampling
  /// with the parameter `sampling` (the experiment's tokenizer.sampling). Call it before the
  /// functions below.
  void require_sampling(double sampling, const std::string& where) const;
  NormalizedText normalise_source(std::string_view text) const;
  NormalizedText normalise_target(std::string_view text) const;
  /// Samples one segmentation of the text. `sampling` is the alpha of SentencePieceUnigram::sample
  /// or the dropout of SentencePieceBpe::sample.
  EncodedText sample_source(const NormalizedText& text, double sampling,
                            RandomGenerator& random) const;
  EncodedText sample_target(const NormalizedText& text, double sampling,
                            RandomGenerator& random) const;

  /// Decodes target ids; special tokens (end, unknown, padding) are left out.
  std::string decode_target(const std::vector<int>& ids) const;

  /// Returns the text of a token: "▁The", "</s>". Throws InputError for an id outside the
  /// vocabulary.
  const std::string& source_token(int id) const;
  const std::string& target_token(int id) const;

  int source_vocab_size() const;
  int target_vocab_size() const;  ///< equals source_vocab_size() if the vocabulary is shared
  /// Returns one more than the largest id that encoding can give: a last token like <mask> needs no
  /// embedding.
  int source_ids_in_use() const;
  int target_ids_in_use() const;
  bool separate_vocabularies() const;
  SpecialTokens special_tokens() const;
  const Languages& languages() const;

 private:
  std::unique_ptr<const TokenizerKind> kind_;
};

/// Returns the names of all tokenizer files, including optional ones.
const std::vector<std::string>& tokenizer_files();

/// The language codes to write into a copied tokenizer; empty keeps what is there.
struct LanguageCodes {
  std::string source;
  std::string target;
};

/// Copies the tokenizer files that `from` has, each atomically, and sets src_lang and tgt_lang in
/// tokenizer_config.json to `languages`. Throws SystemError on failure.
void copy_tokenizer(const std::string& from, const std::string& to,
                    const LanguageCodes& languages = {});

}  // namespace attn
