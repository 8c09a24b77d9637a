#include "serve/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

/// Returns Host without its port and without an IPv6 address's brackets; empty if the port is not
/// ours.
std::string host_part(const std::string& header, int port) {
  std::string host = ascii_lower(header);
  const std::string suffix = fmt::format(":{}", port);
  constexpr int kHttp = 80;
  const bool with_port = host.ends_with(suffix);
  if (with_port) host.resize(host.size() - suffix.size());
  if (!with_port && port != kHttp) return "";
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? ascii_lower(name.data()) : "";
}

bool is_own_name(const AccessRules& rules, const std::string& host) {
  if (host.empty()) return false;
  if (host == ascii_lower(rules.host) || host == "localhost") return true;
  if (rules.token.empty()) return host == "127.0.0.1" || host == "::1";
  // Addresses are safe: unlike a name, an address cannot be pointed elsewhere (DNS rebinding).
  return is_address(host) || host == machine_name();
}

/// True if this is the name of a proxy in front of this server, with any port.
bool is_proxy_name(const AccessRules& rules, const std::string& header) {
  const std::string host = ascii_lower(header);
  return std::ranges::any_of(rules.names, [&](const std::string& given) {
    const std::string name = ascii_lower(given);
    return host == name || host.starts_with(name + ":");
  });
}

/// Compares in constant time, wherever the first difference is.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(byte_value(a[i])) ^ byte_value(b[i]);
  }
  return difference == 0;
}

std::string cookie_name(const AccessRules& rules) {
  return fmt::format("attn-demo-{}", rules.port);
}

/// Returns the value of a cookie; empty if there is none.
std::string cookie_of(const std::string& header, const std::string& name) {
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find(';', at), header.size());
    const std::size_t first = std::min(header.find_first_not_of(' ', at), end);
    const std::string_view pair = std::string_view(header).substr(first, end - first);
    if (pair.starts_with(name + "=")) return std::string(pair.substr(name.size() + 1));
    at = end + 1;
  }
  return "";
}

bool has_token(const AccessRules& rules, const RequestOrigin& caller) {
  constexpr std::string_view kBearer = "Bearer ";
  if (caller.authorization.starts_with(kBearer)) {
    return same_secret(std::string_view(caller.authorization).substr(kBearer.size()), rules.token);
  }
  if (!caller.token.empty()) return same_secret(caller.token, rules.token);
  if (!caller.api_key.empty()) return same_secret(caller.api_key, rules.token);
  return same_secret(cookie_of(caller.cookie, cookie_name(rules)), rules.token);
}

}  // namespace

std::optional<HttpError> check_access(const AccessRules& rules, const RequestOrigin& caller) {
  const bool via_proxy = is_proxy_name(rules, caller.host);
  if (!via_proxy && !is_own_name(rules, host_part(caller.host, rules.port))) {
    return HttpError{421, fmt::format("Host {} is not this server's name; use {}",
                                      caller.host.empty() ? "(none)" : excerpt(caller.host),
                                      rules.names.empty() ? authority(rules.host, rules.port)
                                                          : rules.names.front())};
  }
  if (!is_allowed_origin(rules, caller.origin)) {
    const std::string origin = ascii_lower(caller.origin), host = ascii_lower(caller.host);
    const bool encrypted = via_proxy && origin == "https://" + host;  // the proxy's responsibility
    if (!origin.empty() && origin != "http://" + host && !encrypted) {
      return HttpError{403, fmt::format("pages of {} may not use this server; open its own page",
                                        excerpt(caller.origin))};
    }
    const bool safe = caller.method == "GET" || caller.method == "HEAD";
    if (!safe && (caller.site == "cross-site" || caller.site == "same-site")) {
      return HttpError{403, "pages of other sites may not use this server; open its own page"};
    }
  }
  return caller.token_follows ? std::nullopt : check_token(rules, caller);
}

std::optional<HttpError> check_token(const AccessRules& rules, const RequestOrigin& caller) {
  if (rules.token.empty() || has_token(rules, caller)) return std::nullopt;
  if (!caller.api_key.empty()) {
    return HttpError{403,
                     "api_key is not this server's token; it is in the address that the "
                     "server printed"};
  }
  return HttpError{401,
                   "the token is missing or wrong; open the address that the server printed, or "
                   "send Authorization: Bearer TOKEN"};
}

bool is_allowed_origin(const AccessRules& rules, const std::string& origin) {
  if (origin.empty()) return false;
  return std::ranges::any_of(rules.allowed_origins, [&](const std::string& allowed) {
    return allowed == "*" || ascii_lower(allowed) == ascii_lower(origin);
  });
}

bool is_loopback(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (problem != 0) {
    throw SystemError("{}: the host has no address: {}; try 127.0.0.1", excerpt(host),
                      gai_strerror(problem));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(one->ai_addr);
      if ((ntohl(address->sin_addr.s_addr) >> 24U) != 127U) return false;
    } else if (one->ai_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(one->ai_addr);
      if (!IN6_IS_ADDR_LOOPBACK(&address->sin6_addr)) return false;
    } else {
      return false;
    }
  }
  return true;
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw SystemError("the system provides no random bytes for a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string authority(const std::string& host, int port) {
  const bool bare = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", bare ? "[" : "", host, bare ? "]" : "", port);
}

std::string token_cookie(const AccessRules& rules) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(rules), rules.token);
}

}  // namespace attn
