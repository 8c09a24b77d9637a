// How large an answer can get: a request of a hundred bytes may ask for gigabytes.
#pragma once

#include <vector>

#include "service/api/api_request.h"
#include "translate/translator.h"

namespace attn {

/// The most bytes of a record that is made, as JSON; as many requests compute at once as there are
/// cores.
inline constexpr double max_record_bytes = 256e6;
/// Up to here a page has queries, keys, values and the search.
inline constexpr double max_page_detail_bytes = 64e6;

/// The most bytes that one search keeps of its beams' keys and values.
inline constexpr double max_search_bytes = 1e9;

/// InputError where a search from this sentence may keep more than max_search_bytes.
void check_search_size(const Translator& translator, const PreparedSentence& sentence);

/// InputError where a search is too large, or where records of all these sentences may take more
/// than max_record_bytes as JSON, with what `question` asks for besides the maps. Of a translation
/// that is much longer than its source it is more than what is reckoned with.
void check_record_size(const ApiRequest& request, const Translator& translator,
                       const std::vector<PreparedSentence>& sentences);

/// The question without the search, and then without vectors, where a page with them of all these
/// sentences would be too large. InputError where it is too large without them.
ApiRequest fit_page(ApiRequest request, const Translator& translator,
                    const std::vector<PreparedSentence>& sentences);

}  // namespace attn
