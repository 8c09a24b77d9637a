#include "serve/http.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/utf8.h"
#include "serve/request_body.h"
#include "service/api/api_request.h"

namespace attn {
namespace {

/// Returns an error as one line of JSON.
std::string error_json(std::string_view message) {
  return json_line([&](JsonWriter& json) {
    json.object([&] { json.member("error", shorten_message(printable(message))); });
  });
}

bool reads_only(const httplib::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

/// Checks Content-Length: httplib accepts any number, and a missing one as "until the end".
HttpError check_content_length(const httplib::Request& request, bool reads) {
  const std::string length = request.get_header_value("Content-Length");
  const bool digits = length.find_first_not_of("0123456789") == std::string::npos;
  if (request.get_header_value_count("Content-Length") > 1 || !digits) {
    return {400, fmt::format("Content-Length is {}; expected one number", excerpt(length))};
  }
  if (reads && length.find_first_not_of('0') != std::string::npos) {
    return {400, fmt::format("a {} has no body", request.method)};
  }
  // LibreTranslate clients may send all fields in the address.
  const bool in_address = is_libretranslate_path(request.path) && !request.params.empty();
  if (!reads && length.empty() && !in_address) {
    return {411, "the body has neither Content-Length nor Transfer-Encoding: chunked"};
  }
  return {};
}

/// Checks Transfer-Encoding: a body is sent in chunks or with a length, never both, because a proxy
/// might choose the other one (RFC 9112, 6.1 and 6.3).
HttpError check_transfer_encoding(const httplib::Request& request, bool reads) {
  if (reads) return {400, fmt::format("a {} has no body", request.method)};
  if (!is_chunked(request)) {
    return {501, fmt::format("Transfer-Encoding is {}; expected chunked",
                             excerpt(request.get_header_value("Transfer-Encoding")))};
  }
  if (request.has_header("Content-Length")) {
    return {400, "a body has either Content-Length or Transfer-Encoding, not both"};
  }
  if (request.version == "HTTP/1.0") return {400, "HTTP/1.0 has no Transfer-Encoding"};
  return {};
}

/// Checks the size before reading the body.
HttpError check_body_size(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  const bool unknown = length.empty();  // receive_body() counts
  if (unknown || (error == std::errc() && bytes <= max_body_bytes)) return {};
  return {413, fmt::format("the body is larger than {} bytes", max_body_bytes)};
}

/// True if the list of methods contains this one.
bool allows(std::string_view methods, const std::string& method) {
  return methods == method || methods.starts_with(method + ",") || methods.ends_with(", " + method);
}

}  // namespace

std::string media_type(std::string_view header) {
  // Parameters and case do not matter (RFC 9110, 8.3.1).
  const std::string_view type = header.substr(0, header.find(';'));
  return ascii_lower(type.substr(0, type.find_last_not_of(" \t") + 1));
}

bool is_chunked(const httplib::Request& request) {
  return request.get_header_value_count("Transfer-Encoding") == 1 &&
         ascii_lower(request.get_header_value("Transfer-Encoding")) == "chunked";
}

RequestOrigin request_origin(const httplib::Request& request) {
  RequestOrigin caller;
  caller.method = request.method;
  caller.host = request.get_header_value("Host");
  caller.origin = request.get_header_value("Origin");
  caller.site = request.get_header_value("Sec-Fetch-Site");
  caller.authorization = request.get_header_value("Authorization");
  caller.cookie = request.get_header_value("Cookie");
  if (request.path == "/") caller.token = request.get_param_value("token");
  if (is_libretranslate_path(request.path)) {
    caller.api_key = request.get_param_value("api_key");
    caller.token_follows = true;
  }
  return caller;
}

RequestOrigin request_origin(const httplib::Request& request, const Json& body) {
  RequestOrigin caller = request_origin(request);
  if (!is_libretranslate_path(request.path) || !body.is_object()) return caller;
  const auto key = body.find("api_key");
  if (key != body.end() && key->is_string()) caller.api_key = key->get<std::string>();
  return caller;
}

bool is_health_check(const std::string& path) {
  return path == "/health" || path == "/ready";
}

bool is_libretranslate_path(const std::string& path) {
  return path == "/translate" || path == "/detect" || path == "/languages";
}

const char* allowed_methods(const std::string& path) {
  if (path == "/languages") return "GET, POST";  // libretranslatepy asks with POST
  if (path == "/" || path == "/openapi.json" || path == "/metrics" || is_health_check(path)) {
    return "GET";
  }
  if (path == "/api/translate" || path == "/translate" || path == "/detect" ||
      path == "/api/attend" || path == "/api/why" || path == "/api/page" || path == "/api/file") {
    return "POST";
  }
  return nullptr;
}

HttpError check_headers(const httplib::Request& request) {
  const char* methods = allowed_methods(request.path);
  if (methods == nullptr) {
    return {404, fmt::format("nothing is at {}; the page is at /, the API at /api/translate, "
                             "/api/attend and /api/why",
                             excerpt(request.path))};
  }
  const bool reads = reads_only(request);
  if (!allows(methods, request.method == "HEAD" ? "GET" : request.method)) {
    return {405,
            fmt::format("{} takes {}, not {}", request.path, methods, excerpt(request.method))};
  }
  if (request.has_header("Content-Encoding")) return {415, "compressed bodies are not supported"};
  const bool encoded = request.has_header("Transfer-Encoding");
  const HttpError no =
      encoded ? check_transfer_encoding(request, reads) : check_content_length(request, reads);
  if (no.status != 0 || reads) return no;
  const std::string type = request.get_header_value("Content-Type");
  const bool form = is_libretranslate_path(request.path) && is_form(request) &&
                    (!type.empty() || !has_body(request));
  if (!form && media_type(type) != "application/json") {
    return {415, fmt::format("Content-Type is {}; expected application/json",
                             type.empty() ? "missing" : excerpt(type))};
  }
  return check_body_size(request);
}

bool has_body(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  return request.has_header("Transfer-Encoding") ||
         length.find_first_not_of('0') != std::string::npos;
}

bool may_have_body(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return true;
  return request.has_header("Content-Length") ? request.get_header_value("Content-Length") != "0"
                                              : !reads_only(request);
}

std::string page_id(const httplib::Request& request) {
  const std::string name = request.get_header_value("Attn-Page");
  constexpr std::size_t kLongest = 64;
  const bool plain = name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789-") == std::string::npos;
  return plain && name.size() <= kLongest ? name : "";
}

std::uint64_t client_id(const httplib::Request& request) {
  const std::string peer = fmt::format("{}:{}", request.remote_addr, request.remote_port);
  return std::hash<std::string>()(peer) >> 1 | 1;  // neither 0 nor one of the queue's own numbers
}

std::int64_t page_sequence(const httplib::Request& request) {
  const std::string text = request.get_header_value("Attn-Number");
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void send_error(httplib::Response& response, int status, std::string_view message) {
  response.status = status;
  response.set_content(error_json(message), json_type);
  constexpr int kTooMany = 429, kUnavailable = 503;
  if (status == kTooMany || status == kUnavailable) response.set_header("Retry-After", "1");
}

void send_exception(httplib::Response& response) {
  try {
    throw;
  } catch (const Error& error) {
    const bool asked_wrongly = error.code() == ExitCode::usage || error.code() == ExitCode::input;
    send_error(response, asked_wrongly ? 422 : 503, error.what());
  } catch (const std::bad_alloc&) {
    send_error(response, 503, "out of memory; ask for a shorter sentence or fewer beams");
  } catch (const std::exception&) {
    send_error(response, 500, "internal error; please report it with the request");
  }
}

void send_stopped_error(httplib::Response& response, const Job& job,
                        std::chrono::milliseconds work) {
  const auto seconds = work.count() / 1000;
  switch (job.reason) {
    case StopReason::superseded:
      return send_error(response, 409, "replaced by a newer request of the same page");
    case StopReason::timed_out:
      if (!job.started) {
        return send_error(
            response, 429,
            fmt::format("not started within {} s, because other requests came first", seconds));
      }
      return send_error(
          response, 422,
          fmt::format("not done within {} s; ask for a shorter sentence or fewer beams", seconds));
    case StopReason::shutting_down:
      return send_error(response, 503, "the server is ending");
    default:
      return send_error(response, 503, "the client is gone");
  }
}

httplib::Headers common_headers(const std::string& policy, bool may_be_framed) {
  httplib::Headers headers = {{"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Opener-Policy", "same-origin"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cache-Control", "no-store"},
                              {"Content-Security-Policy", policy}};
  // An old header that knows no list of origins; the policy's frame-ancestors replaces it.
  if (!may_be_framed) headers.emplace("X-Frame-Options", "DENY");
  return headers;
}

std::string timing_header(const Timings& timings) {
  const std::pair<const char*, double> parts[] = {{"segmentation", timings.segmentation},
                                                  {"encoder", timings.model.encoder},
                                                  {"search", timings.model.search},
                                                  {"maps", timings.model.maps},
                                                  {"record", timings.record}};
  std::string header;
  for (const auto& [name, milliseconds] : parts) {
    if (milliseconds <= 0) continue;  // not part of this answer
    header += fmt::format("{}{};dur={:.2f}", header.empty() ? "" : ", ", name, milliseconds);
  }
  return header;
}

}  // namespace attn
