// Tests tokens and texts against the SentencePiece library, on lines made of a model's own pieces
// and of characters that it does not have.
#include <doctest/doctest.h>
#include <sentencepiece_processor.h>

#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "base/strings/utf8.h"
#include "test_files.h"
#include "text/sentencepiece/sentencepiece_processor.h"

namespace attn {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

using test::kSource;
constexpr int kLines = 4'000;

/// Characters that are special to the rules: spaces of all kinds, ▁, ligatures, full-width forms,
/// combining characters, Hangul.
constexpr char32_t kRare[] = {' ',     ' ',    0x3000, 0x2581, 0xA0,   0xFB01, 0xFF21,
                              0x301,   0x1100, 0x1161, 0xAD,   0x200B, 0xBD,   0x2126,
                              0x1F600, 0xE4,   0xDF,   0xFFFD, 0x2028, '<'};

std::string random_line(const std::vector<SentencePieceEntry>& pieces, RandomGenerator& random) {
  std::string line;
  for (std::uint64_t left = random.below(20); left > 0; --left) {
    switch (random.below(6)) {
      case 0:
        append_code_point(line, kRare[random.below(std::size(kRare))]);
        break;
      case 1:
        append_code_point(line, static_cast<char32_t>(0x20 + random.below(0xD000)));
        break;
      case 2:
        line += ' ';
        break;
      default:
        line += pieces[random.below(pieces.size())].text;
    }
  }
  return clean_text(line).text;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    const int byte = byte_value(piece);
    if (byte == kByteValues)
      text += piece;
    else
      text += static_cast<char>(byte);
  }
  return text;
}

void compare(const std::string& path) {
  CAPTURE(path);
  const std::string bytes = read_file(path);
  const SentencePieceModel entries = parse_sentencepiece_model(bytes, path);
  const SentencePieceProcessor model(bytes, path);
  Processor library;
  REQUIRE(library.LoadFromSerializedProto(bytes).ok());
  RandomGenerator random(1, path.substr(kSource.size()), 0);
  int ties = 0;
  for (int i = 0; i < kLines; ++i) {
    const std::string line = random_line(entries.pieces, random);
    CAPTURE(line);
    std::vector<std::string> expected;
    REQUIRE(library.Encode(line, &expected).ok());
    const std::vector<std::string> cut = model.encode(line);
    // Equally likely segmentations are returned in another order by the library (unigram.h).
    if (model.segmentation() == SegmentationType::unigram && cut != expected) {
      ++ties;
      CHECK(joined(cut) == joined(expected));
    } else {
      CHECK(cut == expected);
    }
    std::vector<std::string> pieces = cut;
    for (std::string& piece : pieces) {
      if (random.below(8) == 0) piece = entries.pieces[random.below(entries.pieces.size())].text;
      if (random.below(30) == 0) piece = byte_piece(static_cast<int>(random.below(256)));
    }
    std::string text;
    REQUIRE(library.Decode(pieces, &text).ok());
    CHECK(model.join(pieces) == text);
  }
  CHECK(ties < kLines / 50);
}

TEST_CASE("pieces and texts are those of the SentencePiece library") {
  for (const char* file :
       {"/data/models/en-de/source.spm", "/data/demo/tokenizer/source.spm",
        "/tests/golden/tokenizer/joint/source.spm", "/tests/golden/tokenizer/separate/source.spm",
        "/tests/golden/tokenizer/opus/source.spm",
        "/tests/golden/tokenizer/pegasus/spiece.model"}) {
    compare(kSource + file);
  }
}

}  // namespace
}  // namespace attn
