// Fuzzes the check of SentencePiece models, without the library: every part of an accepted model
// must be inside its bytes.
#include "text/sentencepiece/sentencepiece_model.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  SentencePieceModel model;
  if (!fuzz::accepts([&] { model = parse_sentencepiece_model(bytes, "source.spm"); })) return;
  for (const SentencePieceEntry& piece : model.pieces) {
    fuzz::require(piece.text.data() >= bytes.data() &&
                      piece.text.data() + piece.text.size() <= bytes.data() + bytes.size(),
                  "pieces lie in the file");
  }
  fuzz::require(model.index.size() == model.pieces.size(), "pieces are distinct");
}
