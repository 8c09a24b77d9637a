#include "serve/cross_origin.h"

namespace attn {

void add_cors_headers(const AccessRules& rules, const httplib::Request& request,
                      httplib::Response& response) {
  if (rules.allowed_origins.empty()) return;
  response.set_header("Vary", "Origin");  // for caches: the answer depends on it
  const std::string origin = request.get_header_value("Origin");
  if (!is_allowed_origin(rules, origin)) return;
  response.set_header("Access-Control-Allow-Origin", origin);
  response.set_header("Access-Control-Expose-Headers", "Retry-After, Server-Timing");
}

bool is_preflight(const AccessRules& rules, const httplib::Request& request) {
  return request.method == "OPTIONS" && request.has_header("Access-Control-Request-Method") &&
         is_allowed_origin(rules, request.get_header_value("Origin"));
}

void answer_preflight(const httplib::Request& request, httplib::Response& response) {
  constexpr int kNoContent = 204;
  response.status = kNoContent;
  response.set_header("Access-Control-Allow-Methods", allowed_methods(request.path));
  response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type");
  response.set_header("Access-Control-Max-Age", "600");
  // Chrome asks this for a server on the user's own machine or network.
  if (request.has_header("Access-Control-Request-Private-Network")) {
    response.set_header("Access-Control-Allow-Private-Network", "true");
  }
}

}  // namespace attn
