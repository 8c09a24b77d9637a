// The model of a tokenizer: cuts a word that is prepared into pieces of its vocabulary
// (unigram_model.cpp, bpe_model.cpp).
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
  /// Appends the pieces of a word to `out`: ids and texts, and counts what is unknown. What is
  /// unknown and has no id is left out.
  virtual void tokenize(std::string_view word, EncodedText& out) const = 0;
};

struct ScoredPiece {
  std::string text;
  double score = 0;
};

/// A unigram model as the tokenizers library cuts (Kudo 2018): sums are of doubles, a later piece
/// of the same text stands for an earlier one, a run of unknown characters is one piece, or, with
/// `byte_fallback`, the byte pieces of it where all are there.
std::unique_ptr<const SubwordModel> unigram_model(std::vector<ScoredPiece> pieces, int unknown,
                                                  bool byte_fallback);

/// What byte pairs do with a character that is no piece.
struct UnknownHandling {
  std::optional<int> unknown;  ///< its id; nothing: it is left out
  bool fuse_unk = false;       ///< a run of them is one
  bool byte_fallback = false;  ///< rather its byte pieces, where all are there
};

/// Byte-pair encoding (byte_merges.h) from single characters on.
std::unique_ptr<const SubwordModel> bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                              BpeMerges merges, UnknownHandling unknown);

}  // namespace attn
