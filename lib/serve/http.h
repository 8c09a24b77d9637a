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

/// True for a load balancer's health checks, which need no token.
bool is_health_check(const std::string& path);

/// Returns the only method that a path supports; null if nothing is served there.
const char* allowed_method(const std::string& path);

/// Checks the headers of a request; `status` is 0 if they are valid.
HttpError check_headers(const httplib::Request& request);

/// True if the body is a form (application/x-www-form-urlencoded).
bool is_form(const httplib::Request& request);

/// Converts a form's fields to an object. Repeated fields become a list; `alternatives` becomes a
/// number.
Json form_json(const httplib::Request& request);

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

/// Sends the error for a stopped request; `work` is the time limit it had.
void send_stopped_error(httplib::Response& response, const Job& job,
                        std::chrono::milliseconds work);

/// Returns the durations of an answer's parts for the header Server-Timing.
std::string timing_header(const Timings& timings);

}  // namespace attn
