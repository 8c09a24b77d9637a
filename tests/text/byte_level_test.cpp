#include "text/byte_level_bpe.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/strings/utf8.h"
#include "check_error.h"
#include "test_files.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

using test::check_error;
using test::DirectoryCopy;
using test::kGolden;

using Words = std::vector<std::string_view>;

TEST_CASE("words of byte-level BPE: contractions, letters, numbers, signs, blanks") {
  CHECK(byte_level_words("") == Words{});
  CHECK(byte_level_words("I don't know") == Words{"I", " don", "'t", " know"});
  CHECK(byte_level_words("we'll'S'") == Words{"we", "'ll", "'", "S", "'"});
  CHECK(byte_level_words("x2 3,50!?") == Words{"x", "2", " 3", ",", "50", "!?"});
  CHECK(byte_level_words("a   b  ") == Words{"a", "  ", " b", "  "});
  CHECK(byte_level_words("a\n\n b\u00a0c") == Words{"a", "\n\n", " b", "\u00a0", "c"});
  CHECK(byte_level_words("e\u0301 東京3") == Words{"e", "\u0301", " 東京", "3"});
  // Added after Unicode 15.0: a Todhri letter and a Kirat Rai digit.
  CHECK(byte_level_words("\U000105c0a\U00016d70\U00016d71") ==
        Words{"\U000105c0a", "\U00016d70\U00016d71"});
}

TEST_CASE("every byte has a character of its own") {
  for (int byte = 0; byte < 256; ++byte) {
    std::string piece;
    const char32_t c = byte_to_unicode(static_cast<unsigned char>(byte));
    for (const char32_t seen : {U' ', U'\n', U'\u00a0', U'\u00ad'}) CHECK(c != seen);
    append_code_point(piece, c);
    CHECK(bytes_of_token(piece) == std::string(1, static_cast<char>(byte)));
  }
  CHECK(byte_to_unicode(' ') == U'Ġ');
  CHECK(byte_to_unicode('\n') == U'Ċ');
  CHECK_FALSE(bytes_of_token("東").has_value());
}

TEST_CASE("pieces for people") {
  CHECK(readable_token("ĠThe") == "▁The");
  CHECK(readable_token("ÃĦr") == "Är");
  CHECK(readable_token("ĠÃ") == "▁<0xC3>");
  CHECK(readable_token("ĠĠ") == "▁▁");
  CHECK(readable_token("Ċ") == "<0x0A>");
  CHECK(readable_token("東") == "東");
}

void refuse(const DirectoryCopy& copy, const std::string& message) {
  check_error([&] { Tokenizer tokenizer(copy.path()); }, ExitCode::input, message);
}

TEST_CASE("a damaged merges.txt says where and what") {
  const DirectoryCopy copy(kGolden + "bytes");
  const std::string where = copy.file("merges.txt");
  copy.write("merges.txt", "#version: 0.2\na\n");
  refuse(copy, where + ":2: found \"a\"; expected two pieces with one space between them");
  copy.write("merges.txt", "e n\n\n");
  refuse(copy, where + ":2: found \"\"; expected two pieces with one space between them");
  copy.write("merges.txt", "e  n\n");
  refuse(copy, where + ":1: found \"e  n\"; expected two pieces with one space between them");
  copy.write("merges.txt", "e Q@\n");
  refuse(copy, where + ":1: \"Q@\" is not in the vocabulary; expected merges of its pieces");
  copy.write("merges.txt", "z Q\n");
  refuse(copy, where + ":1: \"zQ\" is not in the vocabulary; expected merges of its pieces");
  copy.write("merges.txt", "e n\r\ne n\n");
  refuse(copy, where + ":2: the pair \"e n\" occurs a second time; expected it once");
  copy.write("merges.txt", "e \xff\n");
  refuse(copy, where + ": found bytes that are not UTF-8; expected one pair of pieces per line");
  copy.write("merges.txt", "");
  CHECK(Tokenizer(copy.path()).encode_source("abc").ids.size() == 5);
}

TEST_CASE("byte-level BPE: pieces, special ones, bytes that the vocabulary lacks") {
  const Tokenizer tokenizer(kGolden + "bytes");
  const EncodedText encoded = tokenizer.encode_source("The group <mask>");
  CHECK(encoded.pieces.front() == "<s>");
  CHECK(encoded.pieces[2] == "▁group");
  CHECK(encoded.pieces.back() == "</s>");
  CHECK(tokenizer.source_vocab_size() == 601);
  CHECK(tokenizer.source_ids_in_use() == 600);  // <mask> is the last id and never occurs in text
  CHECK(tokenizer.decode_target({600, 1, 0, 2, 3}).empty());

  const DirectoryCopy copy(kGolden + "bytes");
  copy.write("vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5,"ab":6})");
  copy.write("merges.txt", "a b\n");
  const Tokenizer small(copy.path());
  const EncodedText cut = small.encode_source("abcba");
  CHECK(cut.ids == std::vector<int>{0, 6, 5, 4, 2});
  CHECK(cut.unknown == 1);
  copy.write("tokenizer_config.json", R"({"add_prefix_space": true})");
  CHECK(Tokenizer(copy.path()).encode_source("a").unknown == 1);  // the space
  CHECK(Tokenizer(copy.path()).encode_source("").ids == std::vector<int>{0, 2});
}

TEST_CASE("Pegasus' pieces stand behind those for pretraining") {
  const Tokenizer tokenizer(kGolden + "pegasus");
  CHECK(tokenizer.source_token(0) == "<pad>");
  CHECK(tokenizer.source_token(4) == "<unk_2>");
  CHECK(tokenizer.source_token(105) == "<unk>");
  CHECK(tokenizer.special_tokens().unk == 105);
  const DirectoryCopy copy(kGolden + "pegasus");
  copy.write("tokenizer_config.json", R"({"offset": -1})");
  refuse(copy, "tokenizer_config.json: offset is -1; expected an integer from 0 to 100000");
  copy.write("tokenizer_config.json", R"({"unk_token": "<nothing>"})");
  refuse(copy,
         "spiece.model: the special piece \"<nothing>\" is missing; expected it with a score "
         "of 0");
  copy.write("tokenizer_config.json", "{}");
  check_error([&] { tokenizer.require_sampling(0.2, "x.json"); }, ExitCode::input,
              "x.json: tokenizer.sampling 0.2: this tokenizer has only one segmentation of a text");
}

}  // namespace
}  // namespace attn
