#include "text/icu_text.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/at.h"
#include "text/pipeline/pipeline.h"

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

// Unicode normalization by ICU.
namespace {

const icu::Normalizer2& normalizer_of(UnicodeForm form, UErrorCode& error) {
  switch (form) {
    case UnicodeForm::nfc:
      return *icu::Normalizer2::getNFCInstance(error);
    case UnicodeForm::nfd:
      return *icu::Normalizer2::getNFDInstance(error);
    case UnicodeForm::nfkc:
      return *icu::Normalizer2::getNFKCInstance(error);
    case UnicodeForm::nfkd:
      return *icu::Normalizer2::getNFKDInstance(error);
  }
  throw std::logic_error("a Unicode form");
}

/// The library's tables end with Unicode 12.0; it leaves newer characters unchanged.
struct PinnedUnicodeNormalizer {
  explicit PinnedUnicodeNormalizer(UnicodeForm form)
      : known("[:age=12.0:]", error), normalizer(normalizer_of(form, error), known) {
    if (U_FAILURE(error)) throw std::runtime_error("ICU has no normalizer");
  }
  UErrorCode error = U_ZERO_ERROR;
  icu::UnicodeSet known;
  icu::FilteredNormalizer2 normalizer;
};

}  // namespace

Normalizer unicode_normalizer(UnicodeForm form) {
  const auto older = std::make_shared<const PinnedUnicodeNormalizer>(form);
  return [older](const std::string& text) {
    UErrorCode error = U_ZERO_ERROR;
    std::string out;
    icu::UnicodeString normalised;
    older->normalizer.normalize(icu::UnicodeString::fromUTF8(text), normalised, error);
    normalised.toUTF8String(out);
    if (U_FAILURE(error)) throw std::runtime_error("ICU cannot normalise a text");
    return out;
  };
}

}  // namespace attn
