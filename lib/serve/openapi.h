// The description of the server's interface, as GET /openapi.json answers it.
#pragma once

#include <string>

namespace attn {

/// Returns the OpenAPI document: openapi.json beside this file, with the search options of
/// config/option_table.h among the fields of the requests that take them.
std::string openapi_document();

}  // namespace attn
