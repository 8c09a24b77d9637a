// Makes a SentencePiece model in the parser's form from a list of pieces.
#pragma once

#include <utility>
#include <vector>

#include "base/at.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn::test {

/// The pieces' ids are their positions in the list. Their texts must outlive the model.
inline SentencePieceModel model_of(std::vector<SentencePieceEntry> pieces) {
  SentencePieceModel model;
  model.pieces = std::move(pieces);
  for (const SentencePieceEntry& piece : model.pieces) {
    model.index.emplace(piece.text, to_int(model.index.size()));
  }
  return model;
}

}  // namespace attn::test
