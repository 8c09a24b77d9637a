#include "base/json.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// An input iterator whose copies share one position, so that the handler knows where the parser
/// is: nlohmann's events do not tell.
class SharedCursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit SharedCursor(const char** at) : at_(at) {}
  reference operator*() const { return **at_; }
  SharedCursor& operator++() {
    ++*at_;
    return *this;
  }
  bool operator==(const SharedCursor& other) const { return *at_ == *other.at_; }
  bool operator!=(const SharedCursor& other) const { return *at_ != *other.at_; }

 private:
  const char** at_;
};

/// Builds the value from nlohmann's events. Open arrays and objects wait on a stack, and an object
/// is built when it ends: looking up every key in an ordered object (a vector) would take quadratic
/// time for a vocabulary.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  const char** cursor() { return &cursor_; }
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no JSON text holds one

  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }

  bool key(string_t& name) override {
    const auto [position, is_new] = stack_.back().names.insert(std::move(name));
    if (!is_new) {
      fail(last_read(), "found the key '{}' a second time in one object, expected each key once",
           excerpt(*position));
    }
    stack_.back().keys.push_back(&*position);
    return true;
  }

  bool end_object() override {
    Open object = std::move(stack_.back());
    stack_.pop_back();
    Json value = Json::object();
    auto& members = value.get_ref<Json::object_t&>();
    members.reserve(object.keys.size());
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      members.emplace_back(*object.keys[i], std::move(object.values[i]));
    }
    return put(std::move(value));
  }

  bool end_array() override {
    Json value = Json::array();
    value.get_ref<Json::array_t&>() = std::move(stack_.back().values);
    stack_.pop_back();
    return put(std::move(value));
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const JsonProblem problem = describe_json_error(text_, position, token, error.what());
    fail(problem.offset, "{}", problem.message);
    return false;
  }

  template <typename... Args>
  [[noreturn]] void fail(std::size_t offset, fmt::format_string<Args...> format, Args&&... args) {
    const TextPosition position = text_position(text_, offset);
    throw InputError("{}:{}:{}: {}", printable(where_), position.line, position.column,
                     fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  struct Open {
    std::vector<Json> values;
    std::vector<const std::string*> keys;  ///< point into `names`, in the order of the text
    std::unordered_set<std::string> names;
  };

  std::size_t last_read() const {
    const auto read = to_size(cursor_ - text_.data());
    return read == 0 ? 0 : read - 1;
  }

  bool open() {
    if (stack_.size() >= limits_.max_depth) {
      fail(last_read(), "found arrays and objects nested deeper than {} levels, expected fewer",
           limits_.max_depth);
    }
    count();
    stack_.emplace_back();
    return true;
  }

  bool add(Json value) {
    count();
    return put(std::move(value));
  }

  void count() {
    if (++values_ > limits_.max_values) {
      fail(last_read(), "found more than {} values, expected fewer", limits_.max_values);
    }
  }

  bool put(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else {
      stack_.back().values.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  const JsonLimits& limits_;
  const char* cursor_ = text_.data();
  std::size_t values_ = 0;
  std::vector<Open> stack_;
  Json root_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where, JsonLimits limits) {
  Builder builder(text, where, limits);
  if (text.size() > limits.max_bytes) {
    builder.fail(0, "found {}, expected at most {}", human_bytes(static_cast<double>(text.size())),
                 human_bytes(static_cast<double>(limits.max_bytes)));
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    builder.fail(0, "found a byte-order mark, expected JSON; save the file as UTF-8 without it");
  }
  // nlohmann takes a zero byte for the end of the text and would accept anything after it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    builder.fail(zero, "found a zero byte, expected JSON text; is this the right file?");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.fail(0, "found no text, expected a JSON value; is the file complete?");
  }
  const char* end = text.data() + text.size();
  Json::sax_parse(SharedCursor(builder.cursor()), SharedCursor(&end), &builder);
  return builder.take();
}

Json read_json_file(const std::string& path, JsonLimits limits) {
  return parse_json(read_file(path, limits.max_bytes), path, limits);
}

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_word_byte(char c) {
  return std::isalnum(byte_value(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
}

/// Returns the literal or number around byte `offset`: the lexer stops at its first wrong byte, but
/// readers want to see the whole word. The length is limited, because a damaged file may be one
/// long word.
std::string_view word_around(std::string_view text, std::size_t offset, std::size_t& begin) {
  constexpr std::size_t kMost = 60;
  begin = std::min(offset, text.size());
  const std::size_t first = begin > kMost ? begin - kMost : 0;
  while (begin > first && is_word_byte(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && end < begin + kMost && is_word_byte(text[end])) ++end;
  return text.substr(begin, std::max<std::size_t>(end - begin, 1));
}

std::string_view literal_hint(std::string_view word) {
  const std::string small = ascii_lower(word);
  if (small.starts_with("nan") || small.starts_with("inf")) {
    return "JSON has no NaN and no infinity";
  }
  if (small == "true" || small == "false") return "write true and false in small letters";
  if (small == "none" || small == "null") return "write null";
  if (word.starts_with('/') || word.starts_with('#')) return "JSON has no comments";
  if (word.starts_with('.') || word.starts_with('+')) return "a number begins with a digit or '-'";
  return "write strings and keys in double quotes";
}

/// Describes an error inside a token: a misspelt literal, a bad number or a broken string.
JsonProblem describe_token_error(std::string_view text, std::size_t offset, std::string_view what) {
  const auto problem = [&](std::string message) { return JsonProblem{offset, std::move(message)}; };
  if (contains(what, "control character")) {
    const unsigned code = byte_value(text[std::min(offset, text.size() - 1)]);
    return problem(fmt::format(
        "found the control character U+{0:04X} in a string, expected it written as \\u{0:04x}",
        code));
  }
  if (contains(what, "ill-formed UTF-8")) {
    if (offset >= text.size()) return problem("found the end of the text inside a character");
    return problem(fmt::format(
        "found the byte 0x{:02x}, which is not valid UTF-8 here; save the file as UTF-8",
        byte_value(text[offset])));
  }
  if (contains(what, "missing closing quote")) {
    return problem("found the end of the text inside a string, expected '\"'; is it complete?");
  }
  if (contains(what, "4 hex digits")) {
    return problem("found a damaged \\u escape, expected four hexadecimal digits after it");
  }
  if (contains(what, "surrogate")) {
    return problem("found half of a surrogate pair, expected two escapes such as \\ud83d\\ude00");
  }
  if (contains(what, "forbidden character after backslash")) {
    return problem("found an unknown escape, expected one of \" \\ / b f n r t u after the '\\'");
  }
  std::size_t begin = offset;
  const std::string_view word = word_around(text, offset, begin);
  if (contains(what, "invalid number")) {
    return {begin,
            fmt::format("found '{}', expected a number such as -1, 0.5 or 1e-5", excerpt(word))};
  }
  return {begin,
          fmt::format("found '{}', expected a JSON value; {}", excerpt(word), literal_hint(word))};
}

/// Returns what nlohmann expected, from the part "while parsing CONTEXT - … expected TOKEN".
std::string_view expected_words(std::string_view what) {
  if (contains(what, "parsing object key")) return "a key in double quotes";
  if (contains(what, "parsing object separator")) return "':' after the key";
  if (contains(what, "; expected '}'")) return "',' or '}'";
  if (contains(what, "; expected ']'")) return "',' or ']'";
  if (contains(what, "; expected end of input")) return "nothing after the value";
  return "a value";
}

std::string_view token_hint(std::string_view text, std::size_t begin, std::string_view token) {
  const std::string_view before = text.substr(0, begin);
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  const char previous = last == std::string_view::npos ? '\0' : before[last];
  if ((token == "}" || token == "]") && previous == ',') return "; remove the comma before it";
  const bool touches = last + 1 == begin;
  if (touches && previous == '0' && !token.empty() && std::isdigit(token.front())) {
    return "; a number has no leading zeros";
  }
  return "";
}

}  // namespace

TextPosition text_position(std::string_view text, std::size_t offset) {
  TextPosition position;
  for (const char c : text.substr(0, std::min(offset, text.size()))) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if (!is_continuation_byte(c)) {
      ++position.column;  // the first byte of a character
    }
  }
  return position;
}

JsonProblem describe_json_error(std::string_view text, std::size_t read, std::string_view token,
                                std::string_view what) {
  const std::size_t last = read == 0 ? 0 : read - 1;
  if (what.starts_with("[json.exception.out_of_range")) {
    return {read - std::min(read, token.size()),
            fmt::format("found the number {}, expected at most about 1.8e308", excerpt(token))};
  }
  // The part after "; last read:" quotes the file itself and must not be taken for a message.
  what = what.substr(0, what.find("; last read:"));
  const std::size_t dash = what.find(" - ");
  const std::string_view detail = dash == std::string_view::npos ? what : what.substr(dash + 3);
  if (detail.starts_with("invalid")) return describe_token_error(text, last, detail);
  if (detail.starts_with("unexpected end of input")) {
    return {text.size(), fmt::format("found the end of the text, expected {}; is it complete?",
                                     expected_words(what))};
  }
  // For a bracket, colon or comma, the lexer's token still holds the previous text.
  if (detail.starts_with("unexpected '") && last < text.size()) token = text.substr(last, 1);
  const std::size_t begin = read - std::min(read, token.size());
  return {begin,
          fmt::format("found {}, expected {}{}",
                      token.starts_with('"') ? excerpt(token) : fmt::format("'{}'", excerpt(token)),
                      expected_words(what), token_hint(text, begin, token))};
}

}  // namespace attn
