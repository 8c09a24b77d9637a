// Fuzzes vocab.json and merges.txt of a byte-level tokenizer: decoding the tokens must give the
// same text.
#include <string>
#include <vector>

#include "base/strings/utf8.h"
#include "fuzz.h"
#include "text/byte_level_bpe.h"

using namespace attn;

FUZZ(bytes) {
  std::string_view rest = bytes;
  Vocabulary vocabulary;
  const std::string_view pieces = fuzz::take_part(rest);
  if (!fuzz::accepts([&] { vocabulary = Vocabulary::parse(pieces, "vocab.json"); })) return;
  const std::string_view merges = fuzz::take_part(rest);
  fuzz::accepts([&] {
    const BpeMerges joints(merges, vocabulary, "merges.txt");
    std::vector<int> ids;
    std::string word;
    while (!rest.empty()) {
      const std::string_view character = rest.substr(0, decode_code_point(rest).length);
      if (const auto id = vocabulary.find(character)) {
        ids.push_back(*id);
        word += character;
      }
      rest.remove_prefix(character.size());
    }
    joints.join(ids);
    std::string joined;
    for (const int id : ids) joined += vocabulary.piece(id);
    fuzz::require(joined == word, "joining keeps the characters");
  });
}
