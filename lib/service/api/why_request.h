// Answers /api/why: why each word of a translation was written.
#pragma once

#include <string>

#include "service/api/api_request.h"
#include "service/why/why.h"

namespace attn {

/// Answers the question of a request. Throws what answer_why() throws, and InputError for methods
/// that run the model many times over a long sentence, which would keep other requests waiting.
WhyAnswer answer_why_request(const ApiRequest& request, const WhyContext& context,
                             const PreparedSentence& sentence);

/// Returns format attn-demo.why (docs/json.md), or the receipts summed by words if
/// ApiRequest::summed is set.
std::string why_response(const ApiRequest& request, const WhyAnswer& answer);

}  // namespace attn
