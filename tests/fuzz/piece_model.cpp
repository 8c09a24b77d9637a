// Fuzzes SentencePiece models: those that pass the check must encode and decode any text.
#include "text/sentencepiece/sentencepiece_processor.h"

#include <string>

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  const std::string text = clean_text(fuzz::take_part(rest)).text;
  fuzz::accepts([&] {
    const SentencePieceProcessor model(std::string(rest), "source.spm");
    const std::vector<std::string> pieces = model.encode(text);
    model.join(pieces);
    model.join(
        {"\xe2\x96\x81"
         "a",
         "<0x41>", "</s>", "b"});
  });
}
