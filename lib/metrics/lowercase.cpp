#include "metrics/unicode_text.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/stringpiece.h>

#include <cstdint>
#include <stdexcept>

namespace attn {

std::string lowercase(std::string_view text) {
  std::string lower;
  icu::StringByteSink<std::string> sink(&lower, static_cast<std::int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  // "" is the root locale; the machine's may be Turkish, where I becomes a dotless ı.
  icu::CaseMap::utf8ToLower("", 0,
                            icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())),
                            sink, nullptr, status);
  if (U_FAILURE(status) != 0) throw std::runtime_error("ICU cannot lower-case a text");
  return lower;
}

}  // namespace attn
