// What the server reads of HTTP's requests, and how it refuses them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/access.h"
#include "serve/server_handler.h"
#include "serve/worker_pool.h"

// After Eigen, which has names that httplib's <resolv.h> makes macros of (_res).
#include <httplib.h>

namespace attn {

inline constexpr const char* json_type = "application/json; charset=utf-8";
inline constexpr const char* html_type = "text/html; charset=utf-8";

/// What of a request says who asks.
RequestOrigin request_origin(const httplib::Request& request);

/// Whether a balancer asks how the server is, which is nobody's secret.
bool is_health_check(const std::string& path);

/// By which method alone a path is served; null: nothing is there.
const char* allowed_method(const std::string& path);

/// What the headers alone say against a request; `status` 0: nothing.
HttpError check_headers(const httplib::Request& request);

/// Whether the body is a form's fields (application/x-www-form-urlencoded).
bool is_form(const httplib::Request& request);

/// A form's fields as an object: of several of one name a list; `alternatives` is a number.
Json form_json(const httplib::Request& request);

/// Whether a body may follow the headers, as HTTP/1.1 has it (RFC 9112, 6.3).
bool may_have_body(const httplib::Request& request);

/// A page's name for itself; only letters, digits and dashes count.
std::string page_id(const httplib::Request& request);

/// The page's own number of a request; 0 where it has none.
std::int64_t page_sequence(const httplib::Request& request);

/// Whose turns a request takes: its connection's.
std::uint64_t client_id(const httplib::Request& request);

/// {"error": "…"}, one line; where it may be tried again, when.
void send_error(httplib::Response& response, int status, std::string_view message);

/// What a request that was stopped is told; `work` is the time it had.
void send_stopped_error(httplib::Response& response, const Job& job,
                        std::chrono::milliseconds work);

/// How long the parts of an answer took, for the header Server-Timing.
std::string timing_header(const Timings& timings);

}  // namespace attn
