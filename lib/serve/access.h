// Who may ask: names that this server has, pages that it has handed out itself, and outside of this
// machine only whoever has the token.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attn {

/// What the server was started as.
struct AccessRules {
  std::string host;  ///< as bound: an address or a name
  int port = 0;
  std::string token;                    ///< empty: none is asked for, the server being on loopback
  std::vector<std::string> names = {};  ///< by which a balancer in front of it is called
};

/// What of a request says who asks. Empty: the request does not say.
struct RequestOrigin {
  std::string method;
  std::string host;           ///< Host
  std::string origin;         ///< Origin
  std::string site;           ///< Sec-Fetch-Site
  std::string authorization;  ///< Authorization
  std::string cookie;         ///< Cookie
  std::string token;          ///< ?token=…
};

/// Why a request is not answered.
struct HttpError {
  int status = 0;
  std::string message;
};

/// Nothing where the request may pass.
///  - 421: Host is a name that is not this server's. A page of another site whose name was pointed
///    here (DNS rebinding) sends its own.
///  - 403: a page of another site asks (Origin, Sec-Fetch-Site).
///  - 401: the token is missing or another.
std::optional<HttpError> check_access(const AccessRules& rules, const RequestOrigin& caller);

/// Whether every address of a host is this machine's own loopback. SystemError where the name has
/// no address.
bool is_loopback(const std::string& host);

/// A token that nobody guesses: 32 hexadecimal digits from the system.
std::string new_token();

/// "127.0.0.1:8080", "[::1]:8080".
std::string authority(const std::string& host, int port);

/// The cookie that holds the token; of a port, for cookies are shared by all ports of a host.
std::string token_cookie(const AccessRules& rules);

}  // namespace attn
