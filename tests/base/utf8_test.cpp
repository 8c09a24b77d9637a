#include "base/strings/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace attn {
namespace {

using namespace std::string_literals;

const std::string kFffd = "\xEF\xBF\xBD";

TEST_CASE("clean_text leaves valid text as it is") {
  const std::string text = "The group went home. Grüße, 東京 😀 \xC2\xA0~";
  const CleanedText cleaned = clean_text(text);
  CHECK(cleaned.text == text);
  CHECK(cleaned.invalid_bytes == 0);
  CHECK(cleaned.controls == 0);
  CHECK(clean_text("").text.empty());
}

TEST_CASE("clean_text replaces each maximal invalid sequence once") {
  struct Case {
    std::string bytes;
    std::string text;
    std::size_t invalid;
  };
  const Case cases[] = {
      {"a\x80z", "a" + kFffd + "z", 1},                        // a lone continuation byte
      {"\xC0\xAF", kFffd + kFffd, 2},                          // an overlong slash
      {"\xE0\x80\x80", kFffd + kFffd + kFffd, 3},              // overlong in three bytes
      {"\xE0\xA0", kFffd, 1},                                  // cut after two of three
      {"\xED\xA0\x80", kFffd + kFffd + kFffd, 3},              // a surrogate
      {"\xF0\x9F\x98", kFffd, 1},                              // cut after three of four
      {"\xF0\x9F\x98!", kFffd + "!", 1},                       // with text after it
      {"\xF4\x90\x80\x80", kFffd + kFffd + kFffd + kFffd, 4},  // above U+10FFFF
      {"\xF5\xFF", kFffd + kFffd, 2},                          // bytes that never occur in UTF-8
      {"\xC3(", kFffd + "(", 1},                               // a lead byte without continuation
      {"\xF1\x80\x80\xE1\x80\xC2z", kFffd + kFffd + kFffd + "z", 3},  // Unicode's own example
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const CleanedText cleaned = clean_text(c.bytes);
    CHECK(cleaned.text == c.text);
    CHECK(cleaned.invalid_bytes == c.invalid);
    CHECK(cleaned.controls == 0);
    CHECK_FALSE(is_valid_utf8(c.bytes));
    CHECK(is_valid_utf8(cleaned.text));
  }
}

TEST_CASE("clean_text replaces controls, and makes a tab or a line's end a blank") {
  CHECK(clean_text("a\tb").text == "a b");
  CHECK(clean_text("a\tb\r\n").text == "a b  ");
  CHECK(clean_text("a\tb\r\n").controls == 0);
  const CleanedText c0 = clean_text("\x1b[31mred\x07\0\v\f"s);
  CHECK(c0.text == kFffd + "[31mred" + kFffd + kFffd + kFffd + kFffd);
  CHECK(c0.controls == 5);
  CHECK(clean_text("\x7F").text == kFffd);
  const CleanedText c1 = clean_text("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0");
  CHECK(c1.text == kFffd + kFffd + kFffd + "\xC2\xA0");
  CHECK(c1.controls == 3);
}

TEST_CASE("every code point survives encoding and decoding") {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    std::string bytes;
    append_code_point(bytes, c);
    const CodePoint back = decode_code_point(bytes);
    if (back.value != c || !back.valid || back.length != bytes.size() || !is_valid_utf8(bytes)) {
      FAIL("code point ", static_cast<unsigned>(c));
    }
  }
}

TEST_CASE("printable makes what a terminal would obey visible") {
  CHECK(printable("plain, ä 😀") == "plain, ä 😀");
  CHECK(printable("\x1b[2J") == "\\u{1b}[2J");
  CHECK(printable("a\nb\tc\x7F") == "a\\u{a}b\\u{9}c\\u{7f}");
  CHECK(printable("\xC2\x9B") == "\\u{9b}");
  CHECK(printable("\u202Eabc\u2066") == "\\u{202e}abc\\u{2066}");
  CHECK(printable("\u200E\u200F\u061C\u2028\u2029\uFEFF") ==
        "\\u{200e}\\u{200f}\\u{61c}\\u{2028}\\u{2029}\\u{feff}");
  CHECK(printable("\xFFz") == kFffd + "z");
  CHECK(printable("\0"s) == "\\u{0}");
}

TEST_CASE("display_width counts columns") {
  CHECK(display_width("") == 0);
  CHECK(display_width("group") == 5);
  CHECK(display_width("▁Grüße") == 6);
  CHECK(display_width("東京") == 4);
  CHECK(display_width("한국") == 4);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("\u200D\u200B\uFE0F") == 0);
  CHECK(display_width("ｆｕｌｌ") == 8);
  CHECK(display_width("עברית") == 5);
  CHECK(display_width("\U00020000") == 2);
  CHECK(display_width("\u0378") == 1);  // unassigned
  CHECK(display_width("\u0600") == 1);  // a format character that is drawn
  CHECK(display_width("\u1160") == 0);  // a Hangul vowel
}

TEST_CASE("fit_width cuts at characters and says so") {
  CHECK(truncate_to_width("group", 5) == "group");
  CHECK(truncate_to_width("group", 4) == "gro…");
  CHECK(truncate_to_width("group", 1) == "…");
  CHECK(truncate_to_width("group", 0).empty());
  CHECK(truncate_to_width("group", -3).empty());
  CHECK(truncate_to_width("", 3).empty());
  CHECK(truncate_to_width("東京都", 6) == "東京都");
  CHECK(truncate_to_width("東京都", 5) == "東京…");
  CHECK(truncate_to_width("東京都", 4) == "東…");
  CHECK(truncate_to_width("東京都", 2) == "…");
  CHECK(truncate_to_width("e\u0301e\u0301e\u0301", 2) == "e\u0301…");
  CHECK(truncate_to_width("ae\u0301", 2) == "ae\u0301");
}

}  // namespace
}  // namespace attn
