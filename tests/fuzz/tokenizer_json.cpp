// Fuzzes tokenizer.json, and a text that an accepted tokenizer encodes and decodes: all ids must
// be inside the vocabulary.
#include "text/pipeline/tokenizer_json.h"

#include <string>

#include "base/strings/utf8.h"
#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  const std::string_view json = fuzz::take_part(rest);
  std::unique_ptr<const TokenizerKind> tokenizer;
  const auto read = [&] {
    tokenizer = pipeline_tokenizer(read_tokenizer_json(json, {}, "tokenizer.json"));
  };
  if (!fuzz::accepts(read)) return;
  const EncodedText encoded = tokenizer->encode(TextSide::source, clean_text(rest).text);
  fuzz::require(encoded.ids.size() == encoded.pieces.size(), "a piece an id");
  for (const int id : encoded.ids) {
    fuzz::require(id >= 0 && id < tokenizer->vocab_size(TextSide::source), "ids are pieces");
  }
  fuzz::require(is_valid_utf8(tokenizer->decode(encoded.ids)), "a decoded text is UTF-8");
}
