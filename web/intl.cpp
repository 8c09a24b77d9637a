// Unicode normalization forms, case mapping, and the boundaries of characters and sentences, using
// the browser.
#include <emscripten.h>
#include <unicode/uchar.h>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/at.h"
#include "base/strings/text_boundaries.h"
#include "metrics/unicode_text.h"
#include "service/model/locale_names.h"
#include "text/pipeline/pipeline.h"

// clang-format off
EM_JS(char*, attn_unicode_form, (const char* text, int form), {
  const normal = UTF8ToString(text).normalize(["NFC", "NFD", "NFKC", "NFKD"][form]);
  const size = lengthBytesUTF8(normal) + 1;
  const out = _malloc(size);
  stringToUTF8(normal, out, size);
  return out;
});

EM_JS(char*, attn_small_letters, (const char* text), {
  const small = UTF8ToString(text).toLowerCase();
  const size = lengthBytesUTF8(small) + 1;
  const out = _malloc(size);
  stringToUTF8(small, out, size);
  return out;
});

EM_JS(int, attn_count_parts, (const char* text, int unit), {
  const parts = new Intl.Segmenter("en", { granularity: ["grapheme", "word", "sentence"][unit] });
  Module.parts = Array.from(parts.segment(UTF8ToString(text)), (part) => lengthBytesUTF8(part.segment));
  return Module.parts.length;
});

EM_JS(int, attn_small_letter, (int letter), { return String.fromCodePoint(letter).toLowerCase().codePointAt(0); });

EM_JS(int, attn_capital_letter, (int letter), {
  const capital = Array.from(String.fromCodePoint(letter).toUpperCase());
  return capital.length === 1 ? capital[0].codePointAt(0) : letter;
});

// Blocks of Thai and Lao, Burmese, Khmer, kana, and Chinese characters.
EM_JS(int, attn_has_unspaced_script, (const char* text), {
  const blocks = [[0x0e00, 0x0eff], [0x1000, 0x109f], [0x1780, 0x17ff], [0x3040, 0x30ff], [0x3400, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x3ffff]];
  return Array.from(UTF8ToString(text)).some((letter) => blocks.some(([first, last]) =>
      letter.codePointAt(0) >= first && letter.codePointAt(0) <= last)) ? 1 : 0;
});

EM_JS(int, attn_part_bytes, (int part), { return Module.parts[part]; });
// clang-format on

namespace attn {
namespace {

/// Takes ownership of a string returned by a function above.
std::string take_string(char* text) {
  const std::unique_ptr<char, decltype(&std::free)> freed(text, &std::free);
  return freed.get();
}

}  // namespace

Normalizer unicode_normalizer(UnicodeForm form) {
  return [form](const std::string& text) {
    return take_string(attn_unicode_form(text.c_str(), static_cast<int>(form)));
  };
}

std::string lowercase(std::string_view text) {
  return take_string(attn_small_letters(std::string(text).c_str()));
}

std::vector<std::size_t> text_boundaries(std::string_view text, TextUnit part) {
  const int count = attn_count_parts(std::string(text).c_str(), static_cast<int>(part));
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (int i = 0; i < count; ++i) ends.push_back(end += to_size(attn_part_bytes(i)));
  return ends;
}

bool has_unspaced_script(std::string_view text) {
  return attn_has_unspaced_script(std::string(text).c_str()) != 0;
}

}  // namespace attn

extern "C" {

UChar32 u_tolower(UChar32 c) {
  return attn_small_letter(c);
}

/// Maps one character to one, like ICU: ß stays.
UChar32 u_toupper(UChar32 c) {
  return attn_capital_letter(c);
}
}

// Implements service/model/locale_names.h with the browser's functions.
// clang-format off
EM_JS(char*, attn_locale, (const char* asked, int what), {
  const code = UTF8ToString(asked);
  const given = (text) => {
    const size = lengthBytesUTF8(text) + 1;
    const out = _malloc(size);
    stringToUTF8(text, out, size);
    return out;
  };
  try {
    const locale = new Intl.Locale(code.split("_").join("-"));
    if (what === 0) return given(locale.toString().split("-").join("_"));
    if (what === 1) return given(locale.language);
    const names = new Intl.DisplayNames("en", { type: "language" });
    return given(names.of(what === 2 ? locale.language : locale.toString()));
  } catch {
    return given(code);
  }
});
// clang-format on

namespace attn {
namespace {

std::string browser_text(const std::string& code, int what) {
  const std::unique_ptr<char, decltype(&std::free)> text(attn_locale(code.c_str(), what),
                                                         &std::free);
  return text.get();
}

}  // namespace

LocaleCode locale_code(const std::string& code) {
  return {browser_text(code, 0), browser_text(code, 1)};
}

std::string english_name(const std::string& code, bool whole) {
  return browser_text(code, whole ? 3 : 2);
}

}  // namespace attn
