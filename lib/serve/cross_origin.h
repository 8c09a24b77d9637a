// Cross-origin resource sharing (CORS): browsers ask whether a page of another site may use the
// server.
#pragma once

#include "serve/access.h"
#include "serve/http.h"

namespace attn {

/// Lets the pages of allowed origins read the answer, errors included. Adds nothing if no origin is
/// allowed.
void add_cors_headers(const AccessRules& rules, const httplib::Request& request,
                      httplib::Response& response);

/// True for a preflight request of an allowed origin, which asks before the actual request and
/// carries no token.
bool is_preflight(const AccessRules& rules, const httplib::Request& request);

/// Answers a preflight request to a path that is served.
void answer_preflight(const httplib::Request& request, httplib::Response& response);

}  // namespace attn
