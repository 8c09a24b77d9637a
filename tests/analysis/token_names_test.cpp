#include "record/words.h"

#include <doctest/doctest.h>

#include "analysis/small_record.h"
#include "check_error.h"

namespace attn::test {
namespace {

AttentionRecord cat_record() {
  return small_record({"▁The", "▁cat", "▁saw", "▁the", "▁new", "s", "▁the", ".", "</s>"},
                      {"▁Die", "▁Kat", "ze", "▁sah", "▁\"", "99", "\"", "</s>"});
}

int query(const std::string& written, AttentionSite site) {
  return find_token(written, query_axis(cat_record(), site, 0));
}

int key(const std::string& written, AttentionSite site) {
  return find_token(written, key_axis(cat_record(), site, 0));
}

}  // namespace

TEST_CASE(
    "a word names the row of its first piece, a decoder's row being the step that writes it") {
  CHECK(query("cat", AttentionSite::encoder_self) == 1);
  CHECK(query("news", AttentionSite::encoder_self) == 4);
  CHECK(query(".", AttentionSite::encoder_self) == 7);
  CHECK(query("</s>", AttentionSite::encoder_self) == 8);
  for (const AttentionSite site : {AttentionSite::cross, AttentionSite::decoder_self}) {
    CHECK(query("Die", site) == 0);
    CHECK(query("Katze", site) == 1);
    CHECK(query("sah", site) == 3);
    CHECK(query("</s>", site) == 7);
  }
}

TEST_CASE("a key is a source word, or in decoder self-attention the column where it is read") {
  CHECK(key("saw", AttentionSite::cross) == 2);
  CHECK(key("saw", AttentionSite::encoder_self) == 2);
  CHECK(key("<pad>", AttentionSite::decoder_self) == 0);
  CHECK(key("Katze", AttentionSite::decoder_self) == 2);
  CHECK(key("sah", AttentionSite::decoder_self) == 4);
}

TEST_CASE("digits alone are an index, also where a word has them") {
  CHECK(query("99", AttentionSite::cross) == 99);
  CHECK(query("0", AttentionSite::cross) == 0);
  CHECK(is_index("010"));
  CHECK_FALSE(is_index(""));
  CHECK_FALSE(is_index("-1"));
  for (const std::string written : {"010", "99999999999"}) {
    check_error([&] { query(written, AttentionSite::cross); }, ExitCode::usage,
                written + ": expected a whole number from 0, in plain decimals");
  }
}

TEST_CASE("a word that is not there or there twice is refused with what there is") {
  check_error([] { query("dog", AttentionSite::encoder_self); }, ExitCode::usage,
              "dog: the source has no such word; it has 0 The, 1 cat, 2 saw, 3 the, 4 news, "
              "6 the, 7 ., 8 </s>");
  check_error([] { query("cat", AttentionSite::cross); }, ExitCode::usage,
              "cat: the translation has no such word; it has 0 Die, 1 Katze, 3 sah");
  check_error([] { key("the", AttentionSite::cross); }, ExitCode::usage,
              "the: the source has this word at 3, 6; give one of these numbers");
  check_error([] { find_token("x", query_axis(cat_record(), AttentionSite::cross, 5)); },
              ExitCode::usage, "x: the translation has no such word; it has none");
}

TEST_CASE("a word that the vocabulary does not have is named as the text has it") {
  AttentionRecord record = small_record({"▁The", "<unk>", "▁went", "</s>"}, {"▁Die", "</s>"});
  record.source_text = "The (zebra), went";
  CHECK(find_token("zebra", key_axis(record, AttentionSite::cross, 0)) == 1);
  CHECK(text_word("  a\u00a0bc  d ", 0) == "a");
  CHECK(text_word("  a\u00a0bc  d ", 1) == "bc");
  CHECK(text_word("  a\u00a0bc  d ", 2) == "d");
  CHECK(text_word("  a\u00a0bc  d ", 3).empty());
  CHECK(strip_punctuation("„Haus“,") == "Haus");
  CHECK(strip_punctuation("don't") == "don't");
  CHECK(strip_punctuation("?!") == "?!");
}

}  // namespace attn::test
