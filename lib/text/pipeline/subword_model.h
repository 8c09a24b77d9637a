// The subword model of a tokenizer: splits a prepared word into tokens of its vocabulary.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/byte_level_bpe.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace attn {

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  /// Appends the tokens of a word (ids and texts) to `out` and counts the unknown ones. Unknown
  /// text is left out if the model has no id for it.
  virtual void tokenize(std::string_view word, EncodedText& out) const = 0;
};

struct ScoredPiece {
  std::string text;
  double score = 0;
};

/// A unigram model that tokenizes like the tokenizers library (Kudo 2018). Scores are summed as
/// doubles, and of several pieces with the same text the last one counts. A run of unknown
/// characters is one token or, with `byte_fallback`, its byte tokens if the vocabulary has all of
/// them.
std::unique_ptr<const SubwordModel> unigram_model(std::vector<ScoredPiece> pieces, int unknown,
                                                  bool byte_fallback);

/// The handling of characters that are not in the vocabulary of a BPE model.
struct UnknownHandling {
  std::optional<int> unknown;  ///< id of the unknown token; nullopt leaves the character out
  bool fuse_unk = false;       ///< a run of unknown characters gives one token
  bool byte_fallback = false;  ///< use byte tokens instead if the vocabulary has all of them
};

/// Byte-pair encoding (text/byte_level_bpe.h), starting from single characters.
std::unique_ptr<const SubwordModel> bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                              BpeMerges merges, UnknownHandling unknown);

}  // namespace attn
