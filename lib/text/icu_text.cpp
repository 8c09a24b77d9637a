#include "text/icu_text.h"

#include <unicode/brkiter.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/at.h"

namespace attn {
namespace {

void require_success(UErrorCode status) {
  if (U_FAILURE(status) != 0) {
    throw std::runtime_error(std::string("ICU finds no boundaries: ") + u_errorName(status));
  }
}

}  // namespace

std::vector<std::size_t> icu_boundaries(std::string_view text, TextUnit part) {
  UErrorCode status = U_ZERO_ERROR;
  const auto make = part == TextUnit::sentence ? icu::BreakIterator::createSentenceInstance
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

}  // namespace attn
