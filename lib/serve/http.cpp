#include "serve/http.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "base/json_writer.h"
#include "base/strings/utf8.h"
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
  if (!reads && length.empty()) return {411, "a body without Content-Length is not read"};
  return {};
}

/// Checks the size before reading the body. httplib limits forms to this size.
HttpError check_body_size(const httplib::Request& request, bool form) {
  const std::size_t most = form ? CPPHTTPLIB_FORM_URL_ENCODED_PAYLOAD_MAX_LENGTH : max_body_bytes;
  const std::string length = request.get_header_value("Content-Length");
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error == std::errc() && bytes <= most) return {};
  return {413, fmt::format("the {} is larger than {} bytes", form ? "form" : "body", most)};
}

/// Returns the type alone in lower case: parameters and case do not matter (RFC 9110, 8.3.1).
std::string media_type(std::string_view header) {
  const std::string_view type = header.substr(0, header.find(';'));
  return ascii_lower(type.substr(0, type.find_last_not_of(" \t") + 1));
}

}  // namespace

bool is_form(const httplib::Request& request) {
  return media_type(request.get_header_value("Content-Type")) ==
         "application/x-www-form-urlencoded";
}

Json form_json(const httplib::Request& request) {
  Json body = Json::object();
  for (const auto& [key, value] : request.params) {
    const bool number = key == "alternatives" && !value.empty() && value.size() < 6 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    const Json one = number ? Json(std::stoul(value)) : Json(clean_text(value).text);
    const auto found = body.find(key);
    if (found == body.end()) {
      body[key] = one;
    } else if (found->is_array()) {
      found->push_back(one);
    } else {
      *found = Json::array({*found, one});
    }
  }
  return body;
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
  return caller;
}

bool is_health_check(const std::string& path) {
  return path == "/health" || path == "/ready";
}

const char* allowed_method(const std::string& path) {
  if (path == "/" || path == "/openapi.json" || path == "/languages" || path == "/metrics" ||
      is_health_check(path)) {
    return "GET";
  }
  if (path == "/api/translate" || path == "/translate" || path == "/api/attend" ||
      path == "/api/why" || path == "/api/page" || path == "/api/file") {
    return "POST";
  }
  return nullptr;
}

HttpError check_headers(const httplib::Request& request) {
  const char* method = allowed_method(request.path);
  if (request.path == "/detect") {
    return {404,
            "/detect is not served: no language is detected here; /translate takes a source, or "
            "auto for the one of the model"};
  }
  if (method == nullptr) {
    return {404, fmt::format("nothing is at {}; the page is at /, the API at /api/translate, "
                             "/api/attend and /api/why",
                             excerpt(request.path))};
  }
  const bool reads = reads_only(request);
  if (request.method != method && !(reads && std::strcmp(method, "GET") == 0)) {
    return {405, fmt::format("{} takes {}, not {}", request.path, method, excerpt(request.method))};
  }
  if (request.has_header("Transfer-Encoding")) {
    return {411, "a body without Content-Length is not read"};
  }
  if (request.has_header("Content-Encoding")) return {415, "a packed body is not read"};
  if (const HttpError no = check_content_length(request, reads); no.status != 0) return no;
  if (reads) return {};
  const std::string type = request.get_header_value("Content-Type");
  // LibreTranslate clients also send forms.
  const bool form = request.path == "/translate" && is_form(request);
  if (!form && media_type(type) != "application/json") {
    return {415, fmt::format("Content-Type is {}; expected application/json",
                             type.empty() ? "missing" : excerpt(type))};
  }
  return check_body_size(request, form);
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

void send_stopped_error(httplib::Response& response, const Job& job,
                        std::chrono::milliseconds work) {
  const auto seconds = work.count() / 1000;
  switch (job.reason) {
    case StopReason::superseded:
      return send_error(response, 409, "a newer request of the same page took its place");
    case StopReason::timed_out:
      if (!job.started) {
        return send_error(response, 429, fmt::format("its turn did not come within {} s", seconds));
      }
      return send_error(
          response, 422,
          fmt::format("not done within {} s; ask for a shorter sentence or fewer beams", seconds));
    case StopReason::shutting_down:
      return send_error(response, 503, "the server is ending");
    default:
      return send_error(response, 503, "nobody waited for the answer");
  }
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
