// Trains a tokenizer from text: SentencePiece models and their vocabularies, written as a directory
// that this program and transformers' MarianTokenizer can load.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/test_set/test_set.h"

namespace attn {

/// Limits of TokenizerTraining.vocab_size, and the longest training line in bytes.
inline constexpr int kMinVocabSize = 3;  // </s>, <unk> and one token
inline constexpr int kMaxVocabSize = 1 << 20;
inline constexpr std::size_t kLongestTrainingLine = 4192;

enum class TokenizerType { unigram, bpe, word };

struct TokenizerTraining {
  TokenizerType type = TokenizerType::unigram;
  int vocab_size = 8000;  ///< upper limit, including </s> and <unk>, without <pad>
  bool joint = true;      ///< one model and vocabulary for both languages
  /// Adds 256 byte tokens for text that no other token covers, so nothing is unknown, and turns off
  /// text normalization. Only for unigram and bpe.
  bool byte_fallback = false;
  std::string source_language = "en";
  std::string target_language = "de";
  std::vector<std::string> source_lines;  ///< one sentence per line, clean (base/strings/utf8.h)
  std::vector<std::string> target_lines;
  std::string source_name = "source text";  ///< the file name, for error messages
  std::string target_name = "target text";
};

/// The result of training.
struct TrainedTokenizer {
  int source_pieces = 0;          ///< learned tokens with </s> and <unk>, without <pad> and fillers
  int target_pieces = 0;          ///< equals source_pieces if joint
  std::size_t skipped_lines = 0;  ///< longer than kLongestTrainingLine
};

/// Trains and writes source.spm, target.spm, vocab.json (and target_vocab.json unless joint) and
/// tokenizer_config.json into `directory`, which is created if missing. The same input gives the
/// same bytes. </s> has id 0, <unk> has id 1 and <pad> the last id. Separate vocabularies are
/// padded to the same size with tokens that occur in no text, because a model has only one padding
/// id.
///
/// Subword models use SentencePiece's default normalization, nmt_nfkc. Models with byte fallback
/// leave the text as it is, and so do word models, which keeps the files of the toy model at a few
/// kB. Throws InputError if the text is too small or too varied for the size, and SystemError if a
/// file cannot be written.
TrainedTokenizer train_tokenizer(const TokenizerTraining& training, const std::string& directory);

/// Reads and cleans the lines of a text file. Throws SystemError if it cannot be read.
std::vector<std::string> read_lines(const std::string& path, TextRole role,
                                    Tables tables = Tables::by_content);

}  // namespace attn
