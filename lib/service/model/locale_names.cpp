#include "service/model/locale_names.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

namespace attn {
namespace {

icu::Locale locale_of(const std::string& code) {
  icu::Locale locale(code.c_str());
  UErrorCode status = U_ZERO_ERROR;
  locale.canonicalize(status);
  return locale;
}

}  // namespace

LocaleCode locale_code(const std::string& code) {
  const icu::Locale locale = locale_of(code);
  return {locale.getName(), locale.getLanguage()};
}

std::string english_name(const std::string& code, bool whole) {
  const icu::Locale locale = locale_of(code);
  icu::UnicodeString name;
  std::string bytes;
  if (whole) {
    locale.getDisplayName(icu::Locale::getEnglish(), name);
  } else {
    locale.getDisplayLanguage(icu::Locale::getEnglish(), name);
  }
  return name.toUTF8String(bytes);
}

}  // namespace attn
