// Unicode normalization by ICU; declared in text/pipeline/pipeline.h.
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
    if (U_FAILURE(error)) throw std::runtime_error("ICU cannot normalize a text");
    return out;
  };
}

}  // namespace attn
