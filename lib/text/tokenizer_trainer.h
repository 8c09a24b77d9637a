// Makes a tokenizer from text: SentencePiece models and the vocabularies that go with them, as a
// directory that this program and transformers' MarianTokenizer load.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace attn {

/// Limits of TokenizerTraining.vocab_size, and the longest line in bytes that SentencePiece takes.
inline constexpr int kMinVocabSize = 3;  // </s>, <unk> and one piece
inline constexpr int kMaxVocabSize = 1 << 20;
inline constexpr std::size_t kLongestTrainingLine = 4192;

enum class TokenizerType { unigram, bpe, word };

struct TokenizerTraining {
  TokenizerType type = TokenizerType::unigram;
  int vocab_size = 8000;  ///< pieces at most, with </s> and <unk>, without <pad>
  bool joint = true;      ///< one model and vocabulary for both languages
  /// 256 pieces are the bytes, into which what no other piece covers is cut: nothing is unknown,
  /// and no rule changes the text. Only unigram and bpe.
  bool byte_fallback = false;
  std::string source_language = "en";
  std::string target_language = "de";
  std::vector<std::string> source_lines;  ///< a sentence each, clean (base/strings/utf8.h)
  std::vector<std::string> target_lines;
  std::string source_name = "source text";  ///< names the lines in errors: their file
  std::string target_name = "target text";
};

/// What was made.
struct TrainedTokenizer {
  int source_pieces = 0;          ///< learned, with </s> and <unk>, without <pad> and fillers
  int target_pieces = 0;          ///< equals source_pieces where joint
  std::size_t skipped_lines = 0;  ///< longer than kLongestTrainingLine, left out
};

/// Trains and writes source.spm, target.spm, vocab.json (target_vocab.json where not joint) and
/// tokenizer_config.json into `directory`, which is made where it is missing. The same input gives
/// the same bytes. </s> has id 0, <unk> 1 and <pad> the last one; separate vocabularies get equal
/// sizes, the smaller one by pieces that no text has, because a model has one padding id.
///
/// Subword models normalise by nmt_nfkc, SentencePiece's default; word models, which keeps the
/// toy's files at a few kB, and those with bytes leave text as it is. InputError where the text is
/// too little or too varied for the size, SystemError where a file cannot be written.
TrainedTokenizer train_tokenizer(const TokenizerTraining& training, const std::string& directory);

/// The lines of a text file, cleaned; SystemError where it cannot be read.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace attn
