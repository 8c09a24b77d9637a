#include "base/strings/text_boundaries.h"

#include <unicode/brkiter.h>
#include <unicode/uscript.h>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

void require_success(UErrorCode status) {
  if (U_FAILURE(status) != 0) {
    throw std::runtime_error(std::string("ICU finds no boundaries: ") + u_errorName(status));
  }
}

}  // namespace

std::vector<std::size_t> text_boundaries(std::string_view text, TextUnit part) {
  UErrorCode status = U_ZERO_ERROR;
  const auto make = part == TextUnit::sentence ? icu::BreakIterator::createSentenceInstance
                    : part == TextUnit::word   ? icu::BreakIterator::createWordInstance
                                               : icu::BreakIterator::createCharacterInstance;
  const std::unique_ptr<icu::BreakIterator> iterator(make(icu::Locale::getRoot(), status));
  require_success(status);
  const std::unique_ptr<UText, decltype(&utext_close)> bytes(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status),
      &utext_close);
  require_success(status);
  iterator->setText(bytes.get(), status);
  require_success(status);
  std::vector<std::size_t> boundaries;
  for (std::int32_t at = iterator->next(); at != icu::BreakIterator::DONE; at = iterator->next()) {
    boundaries.push_back(to_size(at));
  }
  return boundaries;
}

bool has_unspaced_script(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = decode_code_point(text);
    UErrorCode status = U_ZERO_ERROR;
    if (uscript_breaksBetweenLetters(uscript_getScript(static_cast<UChar32>(c.value), &status))) {
      return true;
    }
    text.remove_prefix(c.length);
  }
  return false;
}

}  // namespace attn
