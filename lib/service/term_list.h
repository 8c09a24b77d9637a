// Reads terms: words of the source with what their translation must contain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/terms.h"

namespace attn {

/// Reads terms as "SOURCE=TARGET" or "SOURCE<tab>TARGET", where TARGET may be several forms with
/// "|" between. Terms with the same source are joined: each gives more forms. Throws UsageError for
/// an empty side and beyond 10,000 terms.
std::vector<Term> parse_terms(const std::vector<std::string>& given);

/// Reads a file of terms, one per line as "SOURCE<tab>TARGET", for SearchOptions::terms. Empty
/// lines are skipped. Throws InputError, naming the line, for other lines, invalid UTF-8 and files
/// beyond 4 MiB; SystemError if the file cannot be read.
std::vector<std::string> read_terms(const std::string& path);

}  // namespace attn
