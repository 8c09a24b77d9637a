// Text to ids and back, exactly as transformers' tokenizers of these files do it:
//   source.spm, target.spm, vocab.json   MarianTokenizer: SentencePiece cuts, vocab.json numbers
//   tokenizer.json                       the tokenizers library's one file, of BART, T5, NLLB …
//   sentencepiece.bpe.model              mBART's, NLLB's and M2M100's, by tokenizer_class
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
  std::vector<int> ids;             ///< with the end symbol last, or before a language
  std::vector<std::string> pieces;  ///< as the text was cut; "</s>" last
  std::size_t unknown = 0;          ///< pieces that the vocabulary does not hold
  std::size_t suffix_length = 1;    ///< tokens behind the text: the end, and in some a language
};

/// A text made ready to be cut again and again, each time at random.
struct NormalizedText {
  std::string language_tag;  ///< ">>deu<<", which becomes one piece; or empty
  std::string text;          ///< the rest, as the SentencePiece model normalises it
};

/// Token ids that the tokenizer's files fix.
struct SpecialTokens {
  int eos = 0;
  int unk = 1;
  int pad = 0;
};

class TokenizerKind;

/// A directory's tokenizer files, loaded once and read-only after.
class Tokenizer {
 public:
  /// SystemError where a file cannot be read, InputError (exit 3) where one is missing or damaged:
  /// SentencePiece files are bounds-checked before the library sees them, vocab.json must hold each
  /// id from 0 to its size minus 1 exactly once, merges.txt only pieces that vocab.json holds.
  explicit Tokenizer(const std::string& directory);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// `text` is clean (base/strings/utf8.h). Special pieces typed in it are ordinary text, except a
  /// leading
  /// >>xxx<< language mark, which becomes one piece.
  /// `language`: the token of one of languages() in the place of the tokenizer's own; -1: that. Of
  /// Marian's it is the mark of a text that begins with none.
  EncodedText encode_source(std::string_view text, int language = -1) const;
  EncodedText encode_target(std::string_view text, int language = -1) const;

  /// InputError beginning with `where` unless both SentencePiece models can be cut at random by
  /// `sampling`, the experiment's tokenizer.sampling. What follows asks for that.
  void require_sampling(double sampling, const std::string& where) const;
  NormalizedText normalise_source(std::string_view text) const;
  NormalizedText normalise_target(std::string_view text) const;
  /// One of the text's cuts: `sampling` is Unigram::sample's alpha or SentencePieceBpe::sample's
  /// dropout.
  EncodedText sample_source(const NormalizedText& text, double sampling,
                            RandomGenerator& random) const;
  EncodedText sample_target(const NormalizedText& text, double sampling,
                            RandomGenerator& random) const;

  /// Target ids to text; special pieces (end, unknown, padding) are left out.
  std::string decode_target(const std::vector<int>& ids) const;

  /// The piece of an id: "▁The", "</s>"; InputError outside the vocabulary.
  const std::string& source_token(int id) const;
  const std::string& target_token(int id) const;

  int source_vocab_size() const;
  int target_vocab_size() const;  ///< equals source_vocab_size() where the vocabulary is shared
  /// One more than the largest id that a text can get: a last piece like <mask> needs no embedding.
  int source_ids_in_use() const;
  int target_ids_in_use() const;
  bool separate_vocabularies() const;
  SpecialTokens special_tokens() const;
  const Languages& languages() const;

 private:
  std::unique_ptr<const TokenizerKind> kind_;
};

/// The files of a directory that make its tokenizer, those that may be absent included.
const std::vector<std::string>& tokenizer_files();

/// What a copied tokenizer says of languages: codes, or empty where it stays as it is.
struct LanguageCodes {
  std::string source;
  std::string target;
};

/// Copies those that `from` has, atomically each; src_lang and tgt_lang of tokenizer_config.json
/// become `languages`. SystemError where the system refuses.
void copy_tokenizer(const std::string& from, const std::string& to,
                    const LanguageCodes& languages = {});

}  // namespace attn
