#include "serve/openapi.h"

#include <string_view>

#include "base/json.h"
#include "config/option_table.h"
#include "service/api/api_request.h"
#include "service/field_text.h"

namespace attn {

extern const std::string_view openapi_json;  ///< openapi.json, embedded by cmake/embed_text.cmake

namespace {

Json number_schema(const OptionSpec& option) {
  if (is_decimal(option)) {
    return {{"type", "number"}, {"minimum", option.decimal_low}, {"maximum", option.decimal_high}};
  }
  Json schema = {{"type", "integer"}, {"minimum", option.low}};
  const std::uint64_t high = option.server_high != 0 ? option.server_high : option.high;
  if (high != ~std::uint64_t{0}) schema["maximum"] = high;
  return schema;
}

/// Returns the schema of an option with a fixed set of words; true and false become JSON booleans.
Json choice_schema(const OptionSpec& option) {
  Json words = Json::array();
  for (const std::string_view word : option.choices) {
    const bool truth = word == "true" || word == "false";
    words.push_back(truth ? Json(word == "true") : Json(word));
  }
  return {{"enum", std::move(words)}};
}

Json text_schema() {
  return {{"type", "string"}, {"maxLength", max_text_bytes}};
}

Json list_schema() {
  return {
      {"oneOf",
       {text_schema(), {{"type", "array"}, {"maxItems", max_changes}, {"items", text_schema()}}}}};
}

Json schema_of(const OptionSpec& option) {
  Json schema = is_whole(option) || is_decimal(option) ? number_schema(option)
                : is_flag(option)                      ? Json{{"type", "boolean"}}
                : is_list(option)                      ? list_schema()
                : option.choices.empty()               ? text_schema()
                                                       : choice_schema(option);
  std::string description(option.help);
  if (!option.needs.empty()) description = "With " + std::string(option.needs) + ": " + description;
  schema["description"] = description + ".";
  if (!option.fallback.empty()) {
    schema["description"] = description + " (default: " + std::string(option.fallback) + ").";
  }
  return schema;
}

}  // namespace

std::string openapi_document() {
  Json document = Json::parse(openapi_json);
  for (const char* request : {"Translate", "Attend", "WhyQuestion", "Page"}) {
    Json& properties = document["components"]["schemas"][request]["properties"];
    for (const OptionSpec* option : search_options_at(on_server)) {
      const std::string_view name =
          option->server_name.empty() ? option->name : option->server_name;
      properties[std::string(name)] = schema_of(*option);
    }
  }
  return document.dump(1) + "\n";
}

}  // namespace attn
