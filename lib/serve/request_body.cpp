#include "serve/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "service/api/api_request.h"

namespace attn {
namespace {

/// The header that holds the type of a multipart form after take_over_multipart().
constexpr const char* kMultipartHeader = "Attn-Multipart";

/// Returns the value of a hexadecimal digit, or −1.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes "+" and "%20"; a % without two digits stays, as in browsers.
std::string url_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (text[i] == '%' && high >= 0 && low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

[[noreturn]] void fail_multipart(const std::string& what) {
  throw InputError("the body: {}; expected a form as multipart/form-data", what);
}

/// Returns a parameter of a header: name="q" or name=q; nothing if it is missing.
std::optional<std::string> parameter_of(std::string_view header, std::string_view name) {
  for (std::size_t at = header.find(';'); at < header.size(); at = header.find(';', at)) {
    at = header.find_first_not_of("; \t", at);
    if (at == header.npos) break;
    const std::size_t equals = std::min(header.find('=', at), header.size());
    const bool wanted = ascii_lower(header.substr(at, equals - at)) == name;
    const bool quoted = equals + 1 < header.size() && header[equals + 1] == '"';
    const std::size_t begin = std::min(equals + (quoted ? 2 : 1), header.size());
    const std::size_t end = std::min(header.find(quoted ? '"' : ';', begin), header.size());
    if (wanted) return std::string(header.substr(begin, end - begin));
    at = end;
  }
  return std::nullopt;
}

/// Returns the name of a part from its headers, of which only Content-Disposition counts.
std::string part_name(std::string_view headers) {
  constexpr std::string_view kDisposition = "content-disposition:";
  for (std::size_t at = 0; at < headers.size();) {
    const std::size_t end = std::min(headers.find("\r\n", at), headers.size());
    const std::string_view line = headers.substr(at, end - at);
    at = end + 2;
    if (!ascii_lower(line.substr(0, kDisposition.size())).starts_with(kDisposition)) continue;
    if (parameter_of(line, "filename"))
      fail_multipart("the form contains a file, and files are not accepted");
    if (const auto name = parameter_of(line, "name")) return *name;
  }
  fail_multipart("a part has no name");
}

}  // namespace

void take_over_multipart(httplib::Request& request) {
  request.headers.erase(kMultipartHeader);
  const std::string type = request.get_header_value("Content-Type");
  if (media_type(type) != "multipart/form-data") return;
  request.headers.erase("Content-Type");
  request.headers.emplace(kMultipartHeader, type);
}

ReceivedBody receive_body(const httplib::Request& request, const httplib::ContentReader& read) {
  ReceivedBody body;
  if (!request.has_header("Content-Length") && !is_chunked(request)) return body;
  bool too_large = false;
  const bool whole = read([&](const char* data, std::size_t size) {
    too_large = size > max_body_bytes - body.bytes.size();
    if (!too_large) body.bytes.append(data, size);
    return !too_large;
  });
  if (too_large) {
    body.error = {413, fmt::format("the body is larger than {} bytes", max_body_bytes)};
  } else if (!whole) {
    body.error = {400, "the body ends too early, or its chunks are malformed"};
  }
  return body;
}

bool is_form(const httplib::Request& request) {
  const std::string type = media_type(request.get_header_value("Content-Type"));
  return type.empty() || type == "application/x-www-form-urlencoded" ||
         type == "multipart/form-data";
}

FormFields parse_urlencoded(std::string_view body) {
  FormFields fields;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('&', at), body.size());
    const std::string_view field = body.substr(at, end - at);
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string_view value = field.substr(std::min(equals + 1, field.size()));
    if (!field.empty()) fields.emplace_back(url_decode(field.substr(0, equals)), url_decode(value));
    at = end + 1;
  }
  return fields;
}

FormFields parse_multipart(std::string_view body, std::string_view content_type) {
  constexpr std::size_t kLongestBoundary = 70, kMostParts = max_texts + 16;  // RFC 2046, 5.1.1
  const std::string boundary = parameter_of(content_type, "boundary").value_or("");
  if (boundary.empty() || boundary.size() > kLongestBoundary) {
    fail_multipart("its Content-Type has no boundary of 1 to 70 characters");
  }
  const std::string first = "--" + boundary, next = "\r\n" + first;
  if (!body.starts_with(first)) fail_multipart("it does not begin with its boundary");
  FormFields fields;
  std::size_t at = first.size();
  while (!body.substr(at).starts_with("--")) {
    if (fields.size() == kMostParts) fail_multipart(fmt::format("over {} parts", kMostParts));
    if (!body.substr(at).starts_with("\r\n")) fail_multipart("a boundary has no end of line");
    const std::size_t headers = at + 2;
    const std::size_t blank = body.find("\r\n\r\n", at);
    const std::size_t end = blank == body.npos ? blank : body.find(next, blank + 2);
    if (end == body.npos) fail_multipart("a part does not end");
    const std::size_t begin = blank + 4;
    if (end < begin) fail_multipart("a part has no content");
    fields.emplace_back(part_name(body.substr(headers, blank - std::min(blank, headers))),
                        body.substr(begin, end - begin));
    at = end + next.size();
  }
  return fields;
}

Json form_object(const FormFields& fields) {
  Json object = Json::object();
  for (const auto& [key, value] : fields) {
    if (value.empty() && key != "q") continue;  // a field of a form that was not filled in
    const bool number = key == "alternatives" && value.size() < 6 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    const Json one = number                 ? Json(std::stoul(value))
                     : is_valid_utf8(value) ? Json(value)
                                            : Json(clean_text(value).text);
    const std::string name = clean_text(key).text;
    const auto found = object.find(name);
    if (found == object.end()) {
      object[name] = one;
    } else if (found->is_array()) {
      found->push_back(one);
    } else {
      *found = Json::array({*found, one});
    }
  }
  return object;
}

Json body_fields(const httplib::Request& request, std::string_view body) try {
  if (!is_form(request)) return parse_body(body);
  FormFields fields(request.params.begin(), request.params.end());
  const std::string multipart = request.get_header_value(kMultipartHeader);
  const FormFields more =
      multipart.empty() ? parse_urlencoded(body) : parse_multipart(body, multipart);
  fields.insert(fields.end(), more.begin(), more.end());
  return form_object(fields);
} catch (const Error& error) {
  throw UnreadableBody(error.what());
}

}  // namespace attn
