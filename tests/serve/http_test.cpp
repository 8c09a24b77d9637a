// Tests how requests are read, and the errors for those that are refused.
#include "serve/http.h"

#include <doctest/doctest.h>

#include "base/json.h"

using namespace attn;
using namespace std::chrono_literals;

namespace {

httplib::Request request(const std::string& method, const std::string& path,
                         const httplib::Headers& headers) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers = headers;
  return request;
}

httplib::Request post(const httplib::Headers& headers) {
  return request("POST", "/api/translate", headers);
}

const std::pair<const std::string, std::string> kJson{"Content-Type", "application/json"};

/// Returns the status and message with which a stopped job ends.
std::pair<int, std::string> stopped(StopReason reason, bool begun) {
  Job job;
  job.started = begun;
  job.end(reason);
  httplib::Response response;
  send_stopped_error(response, job, 30s);
  CHECK((response.status != 429 && response.status != 503) !=
        (response.get_header_value("Retry-After") == "1"));
  return {response.status, Json::parse(response.body)["error"]};
}

}  // namespace

TEST_CASE("a request that was stopped is told why") {
  using enum StopReason;
  CHECK(stopped(timed_out, false) ==
        std::pair{429, std::string("not started within 30 s, because other requests came first")});
  CHECK(stopped(timed_out, true) ==
        std::pair{422, std::string("not done within 30 s; ask for a shorter sentence or fewer "
                                   "beams")});
  CHECK(stopped(superseded, true).first == 409);
  CHECK(stopped(shutting_down, false) == std::pair{503, std::string("the server is ending")});
  CHECK(stopped(disconnected, true).first == 503);
}

TEST_CASE("a body has one length, in digits, and no request but a POST has one") {
  CHECK(check_headers(post({kJson, {"Content-Length", "12"}})).status == 0);
  CHECK(check_headers(post({kJson})).status == 411);
  CHECK(check_headers(post({kJson, {"Transfer-Encoding", "Chunked"}})).status == 0);
  CHECK(check_headers(post({kJson, {"Transfer-Encoding", "gzip, chunked"}})).status == 501);
  CHECK(check_headers(post({kJson, {"Transfer-Encoding", "chunked"}, {"Content-Length", "2"}}))
            .status == 400);
  httplib::Request old = post({kJson, {"Transfer-Encoding", "chunked"}});
  old.version = "HTTP/1.0";
  CHECK(check_headers(old).status == 400);
  CHECK(check_headers(post({kJson, {"Content-Length", "12"}, {"Content-Length", "13"}})).status ==
        400);
  for (const std::string length : {"-1", "+1", "0x10", "1e3", "1,2"}) {
    CAPTURE(length);
    CHECK(check_headers(post({kJson, {"Content-Length", length}})).status == 400);
  }
  CHECK(check_headers(request("GET", "/", {})).status == 0);
  CHECK(check_headers(request("GET", "/", {{"Content-Length", "0"}})).status == 0);
  CHECK(check_headers(request("GET", "/", {{"Content-Length", "7"}})).status == 400);
  CHECK(check_headers(request("HEAD", "/", {{"Transfer-Encoding", "chunked"}})).status == 400);
  CHECK(may_have_body(post({})));
  CHECK(may_have_body(request("GET", "/", {{"Content-Length", "7"}})));
  CHECK(may_have_body(request("GET", "/", {{"Transfer-Encoding", "chunked"}})));
  CHECK_FALSE(may_have_body(request("GET", "/", {})));
  CHECK_FALSE(may_have_body(post({{"Content-Length", "0"}})));
}

TEST_CASE("JSON is what its type says, in any letters") {
  for (const std::string type :
       {"application/json", "Application/JSON", "application/json;charset=x",
        "application/json ; charset=utf-8"}) {
    CAPTURE(type);
    CHECK(check_headers(post({{"Content-Type", type}, {"Content-Length", "2"}})).status == 0);
  }
  for (const std::string type :
       {"", "text/plain", "application/jsonx", "application/x-www-form-urlencoded"}) {
    CAPTURE(type);
    CHECK(check_headers(post({{"Content-Type", type}, {"Content-Length", "2"}})).status == 415);
  }
}
