#include "record/words.h"

#include <doctest/doctest.h>

#include "analysis/small_record.h"
#include "analysis/weight_matrix.h"
#include "base/at.h"

namespace attn {
namespace {

using test::Tokens;

constexpr WordType kWord = WordType::word;
constexpr WordType kPunctuation = WordType::punctuation;
constexpr WordType kSpecial = WordType::special;

void check_words(const Tokens& pieces, std::string_view text, const std::vector<Word>& expected) {
  const std::vector<Word> words = split_words(pieces, text);
  CAPTURE(text);
  REQUIRE(words.size() == expected.size());
  int next = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    CAPTURE(i);
    CHECK(words[i].text == expected[i].text);
    CHECK(words[i].first == expected[i].first);
    CHECK(words[i].count == expected[i].count);
    CHECK(words[i].type == expected[i].type);
    CHECK(words[i].text_index == expected[i].text_index);
    CHECK(words[i].first == next);  // every token is in exactly one word
    next += words[i].count;
  }
  CHECK(next == to_int(pieces.size()));
}

std::vector<int> indices(const std::vector<Word>& words) {
  std::vector<int> all;
  for (const Word& word : words) all.push_back(word.text_index);
  return all;
}

TEST_CASE("pieces make words, and the end symbol is one of its own") {
  check_words({"▁The", "▁re", "sea", "rchers", "▁went", "</s>"}, "The researchers went",
              {{"The", 0, 1, kWord, 0},
               {"researchers", 1, 3, kWord, 1},
               {"went", 4, 1, kWord, 2},
               {"</s>", 5, 1, kSpecial, -1}});
  check_words({}, "", {});
  check_words({"</s>"}, "", {{"</s>", 0, 1, kSpecial, -1}});
  // Even without a word-boundary character, the first token begins a word, and so does one after a
  // special token.
  check_words({"x", "y", "<pad>", "z"}, "",
              {{"xy", 0, 2, kWord, 0}, {"<pad>", 2, 1, kSpecial, -1}, {"z", 3, 1, kWord, 1}});
}

TEST_CASE("punctuation at either end of a word is a word of its own with the same number") {
  check_words({"▁(", "▁\"", "He", "im", "!", "?", "\"", "▁it", "</s>"}, "( \"Heim!?\" it",
              {{"(", 0, 1, kPunctuation, 0},
               {"\"", 1, 1, kPunctuation, 1},
               {"Heim", 2, 2, kWord, 1},
               {"!?\"", 4, 3, kPunctuation, 1},
               {"it", 7, 1, kWord, 2},
               {"</s>", 8, 1, kSpecial, -1}});
  // Punctuation inside a word belongs to it, and tokens that mix both are words.
  check_words({"▁don", "'", "t", "▁a,", "."}, "don't a,.",
              {{"don't", 0, 3, kWord, 0}, {"a,", 3, 1, kWord, 1}, {".", 4, 1, kPunctuation, 1}});
  // Punctuation with spaces around it is a word of the text.
  check_words({"▁Ja", "▁", "–", "▁nein", "."}, "Ja – nein.",
              {{"Ja", 0, 1, kWord, 0},
               {"–", 1, 2, kPunctuation, 1},
               {"nein", 3, 1, kWord, 2},
               {".", 4, 1, kPunctuation, 2}});
}

TEST_CASE("a mark alone says where a word begins and is none itself") {
  check_words({"▁", "漢", "字", "▁b", "▁", "</s>"}, "漢字 b",
              {{"漢字", 0, 3, kWord, 0},
               {"b", 3, 1, kWord, 1},
               {"", 4, 1, kSpecial, -1},
               {"</s>", 5, 1, kSpecial, -1}});
  check_words({"▁", "▁a"}, "a", {{"", 0, 1, kSpecial, -1}, {"a", 1, 1, kWord, 0}});
  check_words({"▁", ",", "a"}, ",a", {{",", 0, 2, kPunctuation, 0}, {"a", 2, 1, kWord, 0}});
}

TEST_CASE("unknown pieces are words where that is how many the text has") {
  check_words({"▁The", "<unk>", "▁went"}, "The yeti went",
              {{"The", 0, 1, kWord, 0}, {"<unk>", 1, 1, kWord, 1}, {"went", 2, 1, kWord, 2}});
  check_words({"▁The", "<unk>", "▁went"}, "The☃ went",
              {{"The<unk>", 0, 2, kWord, 0}, {"went", 2, 1, kWord, 1}});
  check_words({"▁The", "▁", "<unk>", "▁went"}, "The 漢 went",
              {{"The", 0, 1, kWord, 0}, {"<unk>", 1, 2, kWord, 1}, {"went", 3, 1, kWord, 2}});
}

TEST_CASE("a language mark is no word, but counts where it stands alone in the text") {
  check_words({">>de<<", "▁The", "▁end"}, ">>de<< The end",
              {{">>de<<", 0, 1, kSpecial, 0}, {"The", 1, 1, kWord, 1}, {"end", 2, 1, kWord, 2}});
  check_words({">>de<<", "▁The", "▁end"}, ">>de<<The end",
              {{">>de<<", 0, 1, kSpecial, -1}, {"The", 1, 1, kWord, 0}, {"end", 2, 1, kWord, 1}});
  // Only at the beginning of the text.
  CHECK(split_words({"▁a", ">>de<<"}, "a>>de<<").size() == 1);
}

TEST_CASE("words of the text: one each, the word itself rather than what is glued to it") {
  const Tokens pieces = {"▁(", "Ja", ")", "▁–", "▁nein", ".", "</s>"};
  const std::vector<Word> all = split_words(pieces, "(Ja) – nein.");
  const std::vector<Word> text = text_words(all);
  REQUIRE(text.size() == 3);
  CHECK(text[0].text == "Ja");
  CHECK(text[1].text == "–");
  CHECK(text[2].text == "nein");
  CHECK(indices(text) == std::vector<int>{0, 1, 2});
  const std::vector<Word> content = content_words(all);
  REQUIRE(content.size() == 2);
  CHECK(content[0].text == "Ja");
  CHECK(content[1].text == "nein");
}

TEST_CASE("the steps that read a word are one row on") {
  const std::vector<Word> words = split_words({"▁a", "b", "▁c", "d"}, "ab cd");
  const std::vector<Word> read = by_reading_step(words, 4);
  REQUIRE(read.size() == 2);
  CHECK(read[0].first == 1);
  CHECK(read[0].count == 2);
  CHECK(read[1].first == 3);  // the last token was never read
  CHECK(read[1].count == 1);
  CHECK(by_reading_step(split_words({"▁a", "▁b"}, "a b"), 2).size() == 1);
}

TEST_CASE("punctuation is Unicode's") {
  for (const char* piece : {".", "▁,", "?!", "…", "„", "“", "–", "。", "«", "؟", "▁('"}) {
    CAPTURE(piece);
    CHECK(is_punctuation(piece));
  }
  for (const char* piece : {"", "▁", "a.", "▁a", "5", "+", "€", "<unk>", "</s>", "\xff", ".\xff"}) {
    CAPTURE(piece);
    CHECK_FALSE(is_punctuation(piece));
  }
}

TEST_CASE("the text's words are counted as Python's split does") {
  CHECK(count_text_words("") == 0);
  CHECK(count_text_words("  a  b\u00a0c\u3000d\te ") == 5);
  CHECK(count_text_words("a\u200bb") == 1);  // a zero-width space does not separate words
  CHECK(count_text_words("\xff \xfe") == 2);
}

TEST_CASE("in scripts without spaces, words end where ICU says so and a token ends") {
  // 我们 | 喜欢 | 猫 | 。
  const std::vector<Word> words = split_words({"▁我们", "喜", "欢", "猫", "。"}, "我们喜欢猫。");
  REQUIRE(words.size() == 4);
  CHECK(words[1] == Word{"喜欢", 1, 2, WordType::word, 1});
  CHECK(words[2] == Word{"猫", 3, 1, WordType::word, 2});
  CHECK(words[3] == Word{"。", 4, 1, WordType::punctuation, 3});
  CHECK(count_text_words("我们喜欢猫。") == 4);
  CHECK(count_text_words("The 我们喜欢猫 home") == 5);
  CHECK(text_word("The 我们喜欢猫 home", 2) == "喜欢");
  // A token across a word boundary is not split; the words after it keep their numbers.
  const std::vector<Word> across = split_words({"▁我们喜", "欢", "猫", "▁go"}, "我们喜欢猫 go");
  REQUIRE(across.size() == 3);
  CHECK(across[0] == Word{"我们喜欢", 0, 2, WordType::word, 0});
  CHECK(across[1] == Word{"猫", 2, 1, WordType::word, 2});
  CHECK(across[2] == Word{"go", 3, 1, WordType::word, 3});
  CHECK(split_words({"▁แมว", "นอน"}, "แมวนอน").size() == 2);
  CHECK(split_words({"▁ឆ្មា", "ដេក"}, "ឆ្មាដេក").size() == 2);
  CHECK(split_words({"▁猫", "が", "寝る"}, "猫が寝る").size() == 3);
  // The same in bytes: 我 | 昨天 | 。
  check_words({"▁", "<0xE6>", "<0x88>", "<0x91>", "<0xE6>", "<0x98>", "<0xA8>", "<0xE5>", "<0xA4>",
               "<0xA9>", "<0xE3>", "<0x80>", "<0x82>", "</s>"},
              "我昨天。",
              {{"我", 0, 4, kWord, 0},
               {"昨天", 4, 6, kWord, 1},
               {"。", 10, 3, kPunctuation, 2},
               {"</s>", 13, 1, kSpecial, -1}});
  // Bytes that are no whole character keep their names.
  check_words({"▁a", "<0xE6>", "<0x88>"}, "a", {{"a<0xE6><0x88>", 0, 3, kWord, 0}});
}

TEST_CASE("words of a record: its own end and start symbols are known") {
  AttentionRecord record = test::small_record({"▁a", "▁b", "[END]"}, {"▁x", "[END]"});
  record.source_text = "a b";
  record.hypotheses[0].text = "x";
  RecordWords words = words_in_record(record, 0);
  CHECK(words.fits_text);
  REQUIRE(words.source.size() == 3);
  CHECK(words.source[2].type == kSpecial);
  REQUIRE(words.target.size() == 2);
  CHECK(words.target[1].type == kSpecial);
  record.hypotheses[0].text = "x y";
  CHECK_FALSE(words_in_record(record, 0).fits_text);
  record.hypotheses[0].text = "x";
  record.source_text = "a  b c";
  CHECK_FALSE(words_in_record(record, 0).fits_text);
  words = words_in_record(record, 7);
  CHECK(words.target.empty());
  CHECK(words.source.size() == 3);
}

TEST_CASE("hostile pieces: every piece is in one word, nothing is lost") {
  const Tokens pieces = {"▁\x1b[31m",  "",
                         " ",          "\n",
                         "▁\u202e",    "\u2028",
                         "a\xff\xfe",  "▁▁",
                         "▁</script>", "<svg onload=x>",
                         "</s>x",      std::string(200, 'x'),
                         "▁سلام",      "😀",
                         "</s>"};
  const std::vector<Word> words = split_words(pieces, "whatever");
  int next = 0;
  std::string spelled;
  for (const Word& word : words) {
    CHECK(word.first == next);
    CHECK(word.count > 0);
    next += word.count;
    spelled += word.text;
  }
  CHECK(next == to_int(pieces.size()));
  for (const char* part : {"</script>", "<svg onload=x>", "سلام", "😀", "\x1b[31m"}) {
    CHECK(spelled.find(part) != spelled.npos);
  }
}

TEST_CASE("merging: summed over a key word's pieces, averaged over a query word's") {
  WeightMatrix pieces(3, 4);
  pieces.values = {0.1, 0.2, 0.3, 0.4,  //
                   0.5, 0.1, 0.1, 0.3,  //
                   0.0, 0.7, 0.2, 0.1};
  const std::vector<Word> queries = split_words({"▁x", "y", "▁z"}, "xy z");
  const std::vector<Word> keys = split_words({"▁a", "▁b", "c", "</s>"}, "a bc");
  const WeightMatrix merged = merge_to_words(pieces, queries, keys);
  REQUIRE(merged.rows == 2);
  REQUIRE(merged.columns == 3);
  const double expected[] = {0.3, 0.35, 0.35, 0.0, 0.9, 0.1};
  for (std::size_t i = 0; i < 6; ++i) CHECK(merged.values[i] == doctest::Approx(expected[i]));
  for (int row = 0; row < 2; ++row) {
    CHECK(merged.at(row, 0) + merged.at(row, 1) + merged.at(row, 2) == doctest::Approx(1));
  }
  CHECK(merge_to_words(pieces, {}, keys).values.empty());
  CHECK(merge_to_words(pieces, queries, {}).values.empty());
}

TEST_CASE("means of heads") {
  AttentionMaps maps{2, 2, 1, 2, {1.0F, 0.0F, 0.5F, 0.5F, 0.0F, 1.0F, 0.25F, 0.75F}};
  CHECK(head_weights(maps, 1, 0).values == std::vector<double>{0, 1});
  CHECK(mean_of_layer(maps, 0).values == std::vector<double>{0.75, 0.25});
  CHECK(mean_of_layer(maps, 1).values == std::vector<double>{0.125, 0.875});
  CHECK(mean_of_heads(maps).values == std::vector<double>{0.4375, 0.5625});
}

}  // namespace
}  // namespace attn
