// Languages by their codes: the meaning of a code, and its English name.
#pragma once

#include <string>

namespace attn {

/// The parts of a language code. Two-letter and three-letter ISO 639 codes, and the members of a
/// macrolanguage, get a common spelling.
struct LocaleCode {
  std::string whole;     ///< "zh_Hans"
  std::string language;  ///< "zh"
};
LocaleCode locale_code(const std::string& code);

/// Returns "Chinese" or, if `whole`, "Chinese (Simplified)"; the code if no name is known.
std::string english_name(const std::string& code, bool whole);

}  // namespace attn
