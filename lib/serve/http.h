// Parsing of HTTP requests, and error answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/access.h"
#include "serve/server_handler.h"
#include "serve/worker_pool.h"

// Must follow Eigen: httplib includes <resolv.h>, which defines names of Eigen's as macros (_res).
#include <httplib.h>

namespace attn {

inline constexpr const char* json_type = "application/json; charset=utf-8";
inline constexpr const char* html_type = "text/html; charset=utf-8";

/// Returns the parts of a request that identify its origin.
RequestOrigin request_origin(const httplib::Request& request);
/// Includes the `api_key` of a LibreTranslate client's body.
RequestOrigin request_origin(const httplib::Request& request, const Json& body);

/// True for a load balancer's health checks, which need no token.
bool is_health_check(const std::string& path);

/// Returns the methods that a path supports, as in the header Allow; null if nothing is served
/// there. GET includes HEAD.
const char* allowed_methods(const std::string& path);

/// True for the paths of LibreTranslate's clients, which also send forms, and their token as
/// `api_key`.
bool is_libretranslate_path(const std::string& path);

/// Checks the headers of a request; `status` is 0 if they are valid.
HttpError check_headers(const httplib::Request& request);

/// Returns a media type in lower case without its parameters.
std::string media_type(std::string_view header);

/// True if the body is sent in chunks (RFC 9112, 7.1).
bool is_chunked(const httplib::Request& request);

/// True if a body follows the headers.
bool has_body(const httplib::Request& request);

/// True if a body may follow the headers according to HTTP/1.1 (RFC 9112, 6.3).
bool may_have_body(const httplib::Request& request);

/// Returns the page's identifier; characters other than letters, digits and dashes are dropped.
std::string page_id(const httplib::Request& request);

/// Returns the page's sequence number of a request; 0 if it has none.
std::int64_t page_sequence(const httplib::Request& request);

/// Returns the client that a request is queued for: its connection.
std::uint64_t client_id(const httplib::Request& request);

/// Sends {"error": "…"} as one line, with Retry-After if a retry may succeed.
void send_error(httplib::Response& response, int status, std::string_view message);

/// Sends the error for the exception that is being handled.
void send_exception(httplib::Response& response);

/// Sends the error for a stopped request; `work` is the time limit it had.
void send_stopped_error(httplib::Response& response, const Job& job,
                        std::chrono::milliseconds work);

/// Returns the headers that every answer has. `policy` is the page's Content-Security-Policy.
httplib::Headers common_headers(const std::string& policy, bool may_be_framed);

/// Returns the durations of an answer's parts for the header Server-Timing.
std::string timing_header(const Timings& timings);

}  // namespace attn
