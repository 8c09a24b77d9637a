#include "service/api/api_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "service/option_values.h"

namespace attn {
namespace {

void check_length(const KeyReader& keys, const std::string& key, const std::string& text) {
  if (text.size() <= max_text_bytes) return;
  keys.fail(key, fmt::format("has {} bytes; at most {} are accepted, so send it in parts",
                             text.size(), max_text_bytes));
}

std::optional<std::string> sentence_of(KeyReader& keys, const std::string& key) {
  std::optional<std::string> text = keys.text(key);
  if (text) check_length(keys, key, *text);
  return text;
}

/// Returns the name of an entry in a list of texts: "body.text[3]".
std::string entry_of(const KeyReader& keys, const std::string& list, std::size_t number,
                     const Json& entry) {
  const std::string key = fmt::format("{}[{}]", list, number);
  if (!entry.is_string()) keys.fail_type(key, entry, "a string");
  auto text = entry.get<std::string>();
  check_length(keys, key, text);
  return text;
}

/// Reads a list of texts; a single text need not be in a list.
std::vector<std::string> texts_of(KeyReader& keys, const std::string& key) {
  const Json* value = keys.find(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) keys.fail_type(key, *value, "a list of strings");
  if (value->size() > max_changes) {
    keys.fail(key,
              fmt::format("has {} entries; at most {} are accepted", value->size(), max_changes));
  }
  for (const Json& text : *value) texts.push_back(entry_of(keys, key, texts.size(), text));
  return texts;
}

/// Reads an integer in a range; nothing if the key is missing or null.
std::optional<std::uint64_t> whole_of(KeyReader& keys, const WholeField& field) {
  const std::string key(field.name);
  const Json* value = keys.find_not_null(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) keys.fail_type(key, *value, "an integer");
  const bool above = value->is_number_unsigned();
  const auto number = above ? value->get<std::uint64_t>() : 0;
  if (!above || number < field.low || number > field.high) {
    keys.fail(key, fmt::format("is {}; expected {} to {}", value->dump(), field.low, field.high));
  }
  return number;
}

std::optional<double> decimal_of(KeyReader& keys, const DecimalField& field) {
  const std::string key(field.name);
  const std::optional<double> number = keys.number(key);
  if (number && !(*number >= field.low && *number <= field.high)) {
    keys.fail(key, fmt::format("is {}; expected {} to {}", *number, field.low, field.high));
  }
  return number;
}

/// Reads one of the option's choices. For true and false, JSON's own literals are accepted too.
std::string choice_of(KeyReader& keys, const std::string& key, const OptionSpec& option) {
  const Json* value = keys.find(key);
  if (value == nullptr) return "";
  std::string word = value->is_string() ? value->get<std::string>() : value->dump();
  const bool own = value->is_boolean() || (value->is_string() && word != "true" && word != "false");
  if (own && std::ranges::find(option.choices, word) != option.choices.end()) return word;
  std::string expected;
  for (const std::string_view choice : option.choices) {
    const bool last = choice == option.choices.back();
    const bool plain = choice == "true" || choice == "false";
    expected += expected.empty() ? "" : last ? " or " : ", ";
    expected += plain ? std::string(choice) : fmt::format("\"{}\"", choice);
  }
  keys.fail_type(key, *value, expected);
}

void read_search_option(KeyReader& keys, const OptionSpec& option, SearchOptions& options) {
  const std::string key(option.server_name.empty() ? option.name : option.server_name);
  if (is_whole(option)) {
    const std::uint64_t high = option.server_high != 0 ? option.server_high : option.high;
    const auto number = whole_of(keys, {key, option.low, high});
    if (number) set_whole(options, option, *number);
  } else if (is_decimal(option)) {
    const auto number = decimal_of(keys, {key, option.decimal_low, option.decimal_high});
    if (number) set_decimal(options, option, *number);
  } else if (is_flag(option)) {
    set_flag(options, option, keys.boolean(key).value_or(false));
  } else if (is_list(option)) {
    for (std::string& text : texts_of(keys, key)) set_text(options, option, std::move(text));
  } else if (!option.choices.empty()) {
    set_text(options, option, choice_of(keys, key, option));
  } else if (std::optional<std::string> text = sentence_of(keys, key)) {
    set_text(options, option, std::move(*text));
  }
}

SearchOptions search_of(KeyReader& keys) {
  SearchOptions options;
  for (const OptionSpec* option : search_options_at(on_server)) {
    read_search_option(keys, *option, options);
  }
  decode_options(options);  // refuses options that exclude each other
  return options;
}

/// Stores a text, or a list of texts; returns false if neither is present.
bool take_texts(KeyReader& keys, const std::string& key, ApiRequest& request) {
  const Json* value = keys.find(key);
  if (value == nullptr) return false;
  if (!value->is_array()) {
    request.text = sentence_of(keys, key).value_or("");
    return true;
  }
  if (value->empty() || value->size() > max_texts) {
    keys.fail(key, fmt::format("has {} texts; expected 1 to {}", value->size(), max_texts));
  }
  request.texts.emplace();
  for (const Json& text : *value) {
    request.texts->push_back(entry_of(keys, key, request.texts->size(), text));
  }
  return true;
}

/// Reads `format`: true for HTML, false for text.
bool is_html(KeyReader& keys) {
  const Json* value = keys.find_not_null("format");
  const std::string format = value == nullptr ? "text" : keys.text("format").value_or("text");
  if (format != "text" && format != "html") {
    keys.fail("format", fmt::format("is {}; expected text or html", excerpt(format)));
  }
  return format == "html";
}

/// Reads a text of a LibreTranslate request. Its clients send null for fields that they do not
/// set.
std::string libretranslate_text(KeyReader& keys, const std::string& key, const char* fallback) {
  return keys.find_not_null(key) == nullptr ? fallback : keys.text(key).value_or(fallback);
}

/// Reads `q`, which is required, and `api_key`, which the server checks.
void take_question(KeyReader& keys, ApiRequest& request) {
  const bool given = keys.find_not_null("q") != nullptr && take_texts(keys, "q", request);
  libretranslate_text(keys, "api_key", "");
  if (!given)
    throw InputError("the request: body.q is missing; expected a text, or a list of them");
}

ApiRequest parse_libretranslate_request(KeyReader& keys) {
  constexpr int kBeams = 4;  // alternatives come from a beam search
  ApiRequest request;
  take_question(keys, request);
  request.languages = {libretranslate_text(keys, "source", "auto"),
                       libretranslate_text(keys, "target", "")};
  request.html = is_html(keys);
  const int more = to_int(whole_of(keys, {"alternatives", 0, max_beams - 1}).value_or(0));
  if (more != 0) {
    request.alternatives = more;
    // All hypotheses are requested, because some may have the same text.
    request.search.beam = std::max(kBeams, more + 1);
    request.search.n_best = request.search.beam;
  }
  keys.refuse_unused();
  if (request.languages->target.empty()) {
    throw InputError("the request: body.target is missing; expected a language such as de");
  }
  return request;
}

ApiRequest parse_detect_request(KeyReader& keys) {
  ApiRequest request;
  take_question(keys, request);
  if (request.texts) keys.fail("q", "is a list; expected one text");
  keys.refuse_unused();
  return request;
}

/// Reads the question of /api/why.
void read_why(KeyReader& keys, ApiRequest& request) {
  request.target = sentence_of(keys, "target");
  const Json* word = keys.find("word");
  const std::optional<int> number = word != nullptr ? as_int(*word) : std::nullopt;
  request.word = number ? std::to_string(*number) : sentence_of(keys, "word").value_or("");
  request.instead = sentence_of(keys, "instead").value_or("");
  request.corrupt = sentence_of(keys, "corrupt").value_or("");
  request.methods = texts_of(keys, "methods");
  request.summed = keys.boolean("summed").value_or(false);
  const std::string units = keys.text("units").value_or("words");
  if (units != "words" && units != "tokens") {
    keys.fail("units", fmt::format("is {}; expected words or tokens", excerpt(units)));
  }
  request.by_tokens = units == "tokens";
}

void check_combination(const ApiRequest& request) {
  if (request.compare && (request.what_if.given() || request.target)) {
    throw InputError(
        "the request: compare shows two unchanged sentences side by side; leave target, without, "
        "force and swap out");
  }
  if (request.search.sample && request.target) {
    throw InputError(
        "the request: sample asks for a random translation, and target gives one; leave one out");
  }
}

}  // namespace

Json parse_body(std::string_view body) {
  constexpr std::size_t kDeepest = 4, kMostValues = 1'000;
  return parse_json(
      body, "the body",
      {.max_depth = kDeepest, .max_bytes = max_body_bytes, .max_values = kMostValues});
}

ApiRequest parse_request(const Json& body, Endpoint kind) {
  KeyReader keys(body, "the request", "body.");
  if (kind == Endpoint::libretranslate) return parse_libretranslate_request(keys);
  if (kind == Endpoint::detect) return parse_detect_request(keys);
  ApiRequest request;
  bool given = false;
  if (kind == Endpoint::translate) {
    given = take_texts(keys, "text", request);
    request.html = is_html(keys);
  } else if (const std::optional<std::string> text = sentence_of(keys, "text")) {
    given = true;
    request.text = *text;
  }
  request.search = search_of(keys);
  request.model = keys.text("model").value_or("");
  if (kind == Endpoint::why) read_why(keys, request);
  if (kind == Endpoint::attend || kind == Endpoint::page) {
    request.target = sentence_of(keys, "target");
    request.what_if = {texts_of(keys, "without"), texts_of(keys, "force"), texts_of(keys, "swap")};
    if (const auto part = whole_of(keys, {"part", 1, max_text_bytes})) {
      request.part = to_int(*part);
    }
    request.vectors = keys.boolean("vectors").value_or(false);
    request.tree = keys.boolean("tree").value_or(false);
    request.report = keys.boolean("report").value_or(false);
  }
  if (kind == Endpoint::page) {
    request.compare = sentence_of(keys, "compare");
    request.caret = whole_of(keys, {"caret", 0, max_text_bytes}).value_or(0);
    request.whole = keys.boolean("whole").value_or(false);
    request.choices = keys.boolean("choices").value_or(false);
    request.measures = keys.boolean("measures").value_or(false);
  }
  keys.refuse_unused();
  if (!given) throw InputError("the request: body.text is missing; expected {{\"text\": \"…\"}}");
  check_combination(request);
  return request;
}

}  // namespace attn
