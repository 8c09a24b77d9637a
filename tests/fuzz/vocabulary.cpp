// Fuzzes vocab.json: the fast reader must agree with the strict parser.
#include "text/vocabulary.h"

#include "base/at.h"
#include "base/json.h"
#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  Vocabulary vocabulary;
  if (!fuzz::accepts([&] { vocabulary = Vocabulary::parse(bytes, "vocab.json"); })) return;
  const Json document =
      parse_json(bytes, "vocab.json");  // throws if only the fast reader accepts the bytes
  fuzz::require(document.size() == to_size(vocabulary.size()), "as many pieces");
  for (const auto& [piece, id] : document.items()) {
    fuzz::require(vocabulary.find(piece) == id.get<int>(), "a piece has its id");
    fuzz::require(vocabulary.piece(id.get<int>()) == piece, "an id has its piece");
  }
}
