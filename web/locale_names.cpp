// service/model/locale_names.h, by the browser.
#include "service/model/locale_names.h"

#include <emscripten.h>

#include <cstdlib>
#include <memory>

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
