// Bodies of requests: receiving them, and reading forms.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "serve/access.h"
#include "serve/http.h"

namespace attn {

struct ReceivedBody {
  std::string bytes;
  HttpError error;  ///< its status is 0 if the body arrived
};

/// Hides the type of a multipart form from httplib, whose own parser of these forms uses
/// std::regex, which overflows the stack on long lines. Call it once the headers are accepted.
void take_over_multipart(httplib::Request& request);

/// Receives a body of at most max_body_bytes, sent with its length or in chunks.
ReceivedBody receive_body(const httplib::Request& request, const httplib::ContentReader& read);

/// True if the fields are a form's: in the body (application/x-www-form-urlencoded or
/// multipart/form-data), or in the address of a request without a body.
bool is_form(const httplib::Request& request);

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// Returns the fields of a urlencoded form, in order.
FormFields parse_urlencoded(std::string_view body);

/// Returns the fields of a multipart form, in order. Throws InputError if the body is not one, or
/// holds a file.
FormFields parse_multipart(std::string_view body, std::string_view content_type);

/// Converts fields to an object. Repeated fields become a list; `alternatives` becomes a number.
Json form_object(const FormFields& fields);

/// The body is neither JSON nor a form.
class UnreadableBody : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the fields of a form, in the address and the body, or the body's JSON. Throws
/// UnreadableBody.
Json body_fields(const httplib::Request& request, std::string_view body);

}  // namespace attn
