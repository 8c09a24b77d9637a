// The JSON writer, the only place that writes commas, quotes and escapes. For small objects
// nlohmann's Json (base/json.h) works too; records with many numbers are written directly, without
// building a document.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

namespace attn {

/// Appends the shortest decimal that reads back to the same float ("1", "0.1", "1e-05"). NaN and
/// infinity are bugs of the caller and throw std::logic_error.
void append_number(std::string& out, float value);

/// Appends a quoted JSON string. Escapes control characters, quotes and backslashes, and also
/// U+2028 and U+2029, so that the text is valid JavaScript too. JSON must be UTF-8, so bytes that
/// are not (a path may contain some) become U+FFFD.
void append_string(std::string& out, std::string_view text);

/// Appends JSON to a text. Each call that writes a value writes the next element of the current
/// array, or the value of the key that was written before it.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out), begin_(out.size()) {}

  /// Writes {…}; `members()` writes the members.
  template <typename Members>
  void object(Members&& members) {
    open('{');
    members();
    out_ += '}';
  }

  /// Writes […]: `elements()` writes the elements, or `each` is called once per element of `range`.
  template <std::invocable Elements>
  void array(Elements&& elements) {
    open('[');
    elements();
    out_ += ']';
  }
  template <typename Range, typename Each>
  void array(const Range& range, Each&& each) {
    array([&] {
      for (const auto& element : range) each(element);
    });
  }
  /// Writes […] by calling `each(i)` for i from 0 to `count` − 1.
  template <typename Each>
  void array_of(int count, Each&& each) {
    array([&] {
      for (int i = 0; i < count; ++i) each(i);
    });
  }

  void key(std::string_view name) {
    comma();
    append_string(out_, name);
    out_ += ':';
  }

  /// Writes a member of an object. `value` is a value, or a callable that writes one.
  template <typename Value>
  void member(std::string_view name, const Value& value) {
    key(name);
    if constexpr (std::invocable<const Value&>) {
      value();
    } else {
      this->value(value);
    }
  }

  /// Writes a string, bool, number (floats must be finite) or an array of these. An empty optional
  /// is written as null.
  template <typename Value>
  void value(const Value& value) {
    if constexpr (std::convertible_to<const Value&, std::string_view>) {
      comma();
      append_string(out_, value);
    } else if constexpr (std::same_as<Value, float>) {
      comma();
      append_number(out_, value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      comma();
      fmt::format_to(std::back_inserter(out_), "{}", value);
    } else if constexpr (std::convertible_to<const Value&, std::span<const float>>) {
      floats(value);
    } else if constexpr (std::ranges::range<Value>) {
      array(value, [this](const auto& element) { this->value(element); });
    } else {
      value ? this->value(*value) : null();
    }
  }

  /// Writes a number, or null if it is not finite.
  template <std::floating_point Number>
  void number_or_null(Number number) {
    std::isfinite(number) ? value(number) : null();
  }
  void null() { raw_value("null"); }

  /// Writes a value that is already JSON.
  void raw_value(std::string_view json) {
    comma();
    out_ += json;
  }

  /// Writes a quoted string that needs no escaping; `append(out)` appends its content.
  template <typename Append>
  void unescaped_string(Append&& append) {
    open('"');
    append(out_);
    out_ += '"';
  }

 private:
  /// Writes a comma unless the value is the first of its array or object, or follows a key. Only
  /// then is the last character one of these three, because every string ends in a quotation mark.
  void comma() {
    if (out_.size() == begin_) return;
    const char last = out_.back();
    if (last != '[' && last != '{' && last != ':') out_ += ',';
  }
  void open(char sign) {
    comma();
    out_ += sign;
  }
  void floats(std::span<const float> values);

  std::string& out_;
  std::size_t begin_;
};

/// Returns the JSON that `write(json)` writes plus a newline: one record of JSON Lines.
template <typename Write>
std::string json_line(Write&& write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  out += '\n';
  return out;
}

}  // namespace attn
