// Tests every rule of access on its own; tests/serve/test_answers.py tests them through the
// server.
#include "serve/access.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "base/error.h"

using namespace attn;

namespace {

AccessRules loopback() {
  return {"127.0.0.1", 8080, ""};
}

AccessRules open_to_all() {
  return {"0.0.0.0", 8080, "0123456789abcdef0123456789abcdef"};
}

RequestOrigin knock_at(const std::string& host) {
  RequestOrigin caller;
  caller.method = "POST";
  caller.host = host;
  return caller;
}

/// Returns the status that the rules give; 0 if the request may pass.
int status_of(const AccessRules& rules, const RequestOrigin& caller) {
  const auto no = check_access(rules, caller);
  return no ? no->status : 0;
}

int status_with(const AccessRules& rules, const std::function<void(RequestOrigin&)>& change) {
  RequestOrigin caller = knock_at("127.0.0.1:8080");
  change(caller);
  return status_of(rules, caller);
}

}  // namespace

TEST_CASE("on loopback the server has three names, with its own port") {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"}) {
    CHECK_MESSAGE(status_of(loopback(), knock_at(host)) == 0, host);
  }
  for (const char* host :
       {"", "127.0.0.1", "localhost", "127.0.0.1:8081", "127.0.0.1:18080", "evil.example:8080",
        "127.0.0.1.evil.example:8080", "10.0.0.1:8080", ":8080", "localhost.:8080"}) {
    CHECK_MESSAGE(status_of(loopback(), knock_at(host)) == 421, host);
  }
  CHECK(check_access(loopback(), knock_at("evil.example:8080"))->message ==
        "Host evil.example:8080 is not this server's name; use 127.0.0.1:8080");
}

TEST_CASE("behind a balancer its name is one, with any port, encrypted or not") {
  AccessRules rules = loopback();
  rules.names = {"Translate.example.org"};
  for (const char* host :
       {"translate.example.org", "translate.EXAMPLE.org:8443", "localhost:8080"}) {
    CHECK_MESSAGE(status_of(rules, knock_at(host)) == 0, host);
  }
  for (const char* host :
       {"example.org", "translate.example.org.evil.example", "translate.example.organic"}) {
    CHECK_MESSAGE(status_of(rules, knock_at(host)) == 421, host);
  }
  const auto from = [&](const std::string& origin) {
    RequestOrigin caller = knock_at("translate.example.org");
    caller.origin = origin;
    return status_of(rules, caller);
  };
  CHECK(from("https://translate.example.org") == 0);
  CHECK(from("http://translate.example.org") == 0);
  CHECK(from("https://evil.example") == 403);
  // Without a load balancer there is no encryption, so such a page is not this server's own.
  RequestOrigin caller = knock_at("localhost:8080");
  caller.origin = "https://localhost:8080";
  CHECK(status_of(rules, caller) == 403);
}

TEST_CASE("port 80 may be left out of Host, as browsers do") {
  const AccessRules rules{"127.0.0.1", 80, ""};
  CHECK(status_of(rules, knock_at("127.0.0.1")) == 0);
  CHECK(status_of(rules, knock_at("127.0.0.1:80")) == 0);
  CHECK(status_of(rules, knock_at("evil.example")) == 421);
}

TEST_CASE("open to others, addresses are names, other names are not") {
  const auto with_token = [](const std::string& host) {
    RequestOrigin caller = knock_at(host);
    caller.authorization = "Bearer " + open_to_all().token;
    return status_of(open_to_all(), caller);
  };
  CHECK(with_token("192.168.1.7:8080") == 0);
  CHECK(with_token("[2001:db8::1]:8080") == 0);
  CHECK(with_token("localhost:8080") == 0);
  CHECK(with_token("evil.example:8080") == 421);
}

TEST_CASE("a page of another site may not ask") {
  const auto from = [](const std::string& origin) {
    return status_with(loopback(), [&](RequestOrigin& caller) { caller.origin = origin; });
  };
  CHECK(from("http://127.0.0.1:8080") == 0);
  CHECK(from("HTTP://127.0.0.1:8080") == 0);
  CHECK(from("http://localhost:8080") == 403);  // a different name than the requested one
  CHECK(from("https://127.0.0.1:8080") == 403);
  CHECK(from("http://127.0.0.1") == 403);
  CHECK(from("null") == 403);
  const auto on = [](const std::string& site, const std::string& method) {
    return status_with(loopback(), [&](RequestOrigin& caller) {
      caller.site = site;
      caller.method = method;
    });
  };
  CHECK(on("same-origin", "POST") == 0);
  CHECK(on("none", "POST") == 0);
  CHECK(on("cross-site", "POST") == 403);
  CHECK(on("same-site", "POST") == 403);
  CHECK(on("cross-site", "DELETE") == 403);
  CHECK(on("cross-site", "GET") == 0);  // a link to the page
}

TEST_CASE("the token is taken from the header, the address or the cookie, and whole") {
  const std::string token = open_to_all().token;
  const auto with = [](const std::function<void(RequestOrigin&)>& change) {
    return status_with(open_to_all(), change);
  };
  CHECK(with([](RequestOrigin&) {}) == 401);
  CHECK(with([&](RequestOrigin& caller) { caller.authorization = "Bearer " + token; }) == 0);
  CHECK(with([&](RequestOrigin& caller) { caller.authorization = token; }) == 401);
  CHECK(with([&](RequestOrigin& caller) { caller.authorization = "Bearer " + token + "0"; }) ==
        401);
  CHECK(with([&](RequestOrigin& caller) { caller.authorization = "Bearer "; }) == 401);
  CHECK(with([&](RequestOrigin& caller) { caller.token = token; }) == 0);
  CHECK(with([&](RequestOrigin& caller) { caller.token = token.substr(1); }) == 401);
  CHECK(with([&](RequestOrigin& caller) { caller.cookie = "attn-demo-8080=" + token; }) == 0);
  CHECK(with([&](RequestOrigin& caller) {
          caller.cookie = "a=b;  attn-demo-8080=" + token + "; c=d";
        }) == 0);
  CHECK(with([&](RequestOrigin& caller) { caller.cookie = "attn-demo-8081=" + token; }) == 401);
  CHECK(with([&](RequestOrigin& caller) { caller.cookie = "attn-demo-8080="; }) == 401);
  // A correct cookie does not make up for a wrong key in the header.
  CHECK(with([&](RequestOrigin& caller) {
          caller.authorization = "Bearer x";
          caller.cookie = "attn-demo-8080=" + token;
        }) == 401);
  CHECK(token_cookie(open_to_all()) ==
        "attn-demo-8080=" + token + "; Path=/; HttpOnly; SameSite=Strict");
}

TEST_CASE("tokens are 32 hexadecimal digits, another one each time") {
  const std::string token = new_token();
  CHECK(token.size() == 32);
  CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(token != new_token());
}

TEST_CASE("loopback is what every address of a host is") {
  CHECK(is_loopback("127.0.0.1"));
  CHECK(is_loopback("127.255.1.2"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("0.0.0.0"));
  CHECK_FALSE(is_loopback("::"));
  CHECK_FALSE(is_loopback("192.0.2.1"));
  CHECK_THROWS_AS(is_loopback("no such host"), SystemError);
}

TEST_CASE("an address of IPv6 stands in brackets before its port") {
  CHECK(authority("127.0.0.1", 80) == "127.0.0.1:80");
  CHECK(authority("::1", 8080) == "[::1]:8080");
}

TEST_CASE("a LibreTranslate client sends the token as api_key, in the address or the body") {
  const std::string token = open_to_all().token;
  RequestOrigin caller = knock_at("127.0.0.1:8080");
  caller.token_follows = true;
  CHECK(status_of(open_to_all(), caller) == 0);  // the body has not been read yet
  CHECK(check_token(open_to_all(), caller)->status == 401);
  caller.api_key = token;
  CHECK_FALSE(check_token(open_to_all(), caller));
  caller.api_key = token.substr(1);
  CHECK(check_token(open_to_all(), caller)->status == 403);
  CHECK_FALSE(check_token(loopback(), caller));
  caller.origin = "https://evil.example";
  CHECK(status_of(open_to_all(), caller) == 403);
}

TEST_CASE("pages of allowed origins pass, and no others") {
  AccessRules rules = loopback();
  rules.allowed_origins = {"https://App.example", "moz-extension://1-2"};
  const auto from = [&](const std::string& origin) {
    return status_with(rules, [&](RequestOrigin& caller) {
      caller.origin = origin;
      caller.site = "cross-site";
    });
  };
  CHECK(from("https://app.example") == 0);
  CHECK(from("moz-extension://1-2") == 0);
  for (const char* origin :
       {"http://app.example", "https://app.example:8443", "https://app.examples",
        "https://x.app.example", "moz-extension://1-23", "null", ""}) {
    CHECK_MESSAGE(from(origin) == 403, origin);
  }
  rules.allowed_origins = {"*"};
  CHECK(from("null") == 0);
  CHECK(from("") == 403);  // Sec-Fetch-Site alone does not name an origin
}
