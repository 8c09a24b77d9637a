// The OpenAPI description of the server, which GET /openapi.json returns.
#pragma once

#include <string>

namespace attn {

/// Returns the OpenAPI document: openapi.json beside this file, with the search options of
/// config/option_table.h among the fields of the requests that take them.
std::string openapi_document();

}  // namespace attn
