// Languages by their codes: what a code means, and its English name.
#pragma once

#include <string>

namespace attn {

/// Codes of ISO 639 of two and three letters, and the parts of a macrolanguage, become one
/// spelling.
struct LocaleCode {
  std::string whole;     ///< "zh_Hans"
  std::string language;  ///< "zh"
};
LocaleCode locale_code(const std::string& code);

/// "Chinese", or, `whole`, "Chinese (Simplified)"; the code where none is known.
std::string english_name(const std::string& code, bool whole);

}  // namespace attn
