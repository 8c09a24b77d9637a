// Limits the size of responses: a request of a hundred bytes may ask for gigabytes.
#pragma once

#include <vector>

#include "service/api/api_request.h"
#include "translate/translator.h"

namespace attn {

/// The largest record, in bytes of JSON. As many requests run at once as there are cores.
inline constexpr double max_record_bytes = 256e6;
/// The largest page that includes queries, keys, values and the search.
inline constexpr double max_page_detail_bytes = 64e6;

/// The most bytes of keys and values that one search keeps for its beams.
inline constexpr double max_search_bytes = 1e9;

/// Throws InputError if a search for this sentence may keep more than max_search_bytes.
void check_search_size(const Translator& translator, const DecodeConfig& decode,
                       const PreparedSentence& sentence);

/// Throws InputError if a search is too large, or if records of all these sentences, with the
/// details that the request asks for, may take more than max_record_bytes as JSON. A translation
/// that is much longer than its source may exceed this estimate.
void check_record_size(const ApiRequest& request, const Translator& translator,
                       const DecodeConfig& decode, const std::vector<PreparedSentence>& sentences);

/// Returns the request without the search tree, and then without vectors, if a page with them for
/// all these sentences would be too large. Throws InputError if it is too large even without them.
ApiRequest fit_page(ApiRequest request, const Translator& translator, const DecodeConfig& decode,
                    const std::vector<PreparedSentence>& sentences);

}  // namespace attn
