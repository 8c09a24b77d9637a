// Access control: requests must use a name of this server, come from its own pages and, from other
// machines, carry the token.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attn {

/// The access settings the server was started with.
struct AccessRules {
  std::string host;  ///< as bound: an address or a name
  int port = 0;
  std::string token;  ///< empty: no token required, because the server is on loopback
  std::vector<std::string> names = {};  ///< names of the load balancer in front of it
  /// The origins of other sites whose pages may use the server: "https://example.org", or "*" for
  /// all.
  std::vector<std::string> allowed_origins = {};
  /// The origins of other sites that may show the page in a frame; "*" for all.
  std::vector<std::string> frame_origins = {};
};

/// The parts of a request that identify its origin. Empty strings are missing headers.
struct RequestOrigin {
  std::string method;
  std::string host;            ///< Host
  std::string origin;          ///< Origin
  std::string site;            ///< Sec-Fetch-Site
  std::string authorization;   ///< Authorization
  std::string cookie;          ///< Cookie
  std::string token;           ///< ?token=…
  std::string api_key;         ///< the token as LibreTranslate's clients send it
  bool token_follows = false;  ///< the token may be in the body; check_token() comes later
};

/// The reason for refusing a request.
struct HttpError {
  int status = 0;
  std::string message;
};

/// Returns nothing if the request may pass.
/// - 421: Host is not a name of this server. A page of another site whose name was pointed here
///   (DNS rebinding) sends its own.
/// - 403: the request comes from a page of another site (Origin, Sec-Fetch-Site).
/// - 401, 403: check_token(), unless the token may follow in the body.
std::optional<HttpError> check_access(const AccessRules& rules, const RequestOrigin& caller);

/// Returns nothing if the server requires no token or the request has it.
/// - 401: the token is missing or wrong.
/// - 403: `api_key` is wrong, as in LibreTranslate.
std::optional<HttpError> check_token(const AccessRules& rules, const RequestOrigin& caller);

/// True if pages of this origin may use the server although it is another site's.
bool is_allowed_origin(const AccessRules& rules, const std::string& origin);

/// True if every address of the host is this machine's own loopback. Throws SystemError if the name
/// has no address.
bool is_loopback(const std::string& host);

/// Returns an unguessable token: 32 hexadecimal digits from the system's random numbers.
std::string new_token();

/// Returns host and port as in a URL: "127.0.0.1:8080", "[::1]:8080".
std::string authority(const std::string& host, int port);

/// Returns the name of the cookie that holds the token. It includes the port, because all ports of
/// a host share cookies.
std::string token_cookie(const AccessRules& rules);

}  // namespace attn
