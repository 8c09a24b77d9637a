// The one way to write JSON: commas, quotes and escapes are put here and nowhere else. Where an
// object is small, nlohmann's Json (base/json.h) does as well; records of many numbers are written
// without one.
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

/// Appends the shortest decimal that reads back to the same float ("1", "0.1", "1e-05"; never NaN
/// or infinity: those are a bug of the caller and throw std::logic_error).
void append_number(std::string& out, float value);

/// Appends a JSON string with quotes; control characters, quotes and backslashes escaped, and
/// U+2028/2029 too so that the text is also JavaScript. Bytes that are no UTF-8 (a path may hold
/// such) become U+FFFD, for JSON is UTF-8.
void append_string(std::string& out, std::string_view text);

/// Puts JSON at the end of a text. Each call that writes a value is one element of the array, or
/// the value of the key, that was written before it.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out), begin_(out.size()) {}

  /// {…}, its members written by `members()`.
  template <typename Members>
  void object(Members&& members) {
    open('{');
    members();
    out_ += '}';
  }

  /// […], its elements written by `elements()`, or a call of `each` an element of `range`.
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
  /// […] of `each(i)` for i from 0 to `count` − 1.
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

  /// A member of an object: a value, or what `value()` writes.
  template <typename Value>
  void member(std::string_view name, const Value& value) {
    key(name);
    if constexpr (std::invocable<const Value&>) {
      value();
    } else {
      this->value(value);
    }
  }

  /// A text, bool, number (a float must be finite), array of such; an optional may be null.
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

  /// A number; null where it is not finite.
  template <std::floating_point Number>
  void number_or_null(Number number) {
    std::isfinite(number) ? value(number) : null();
  }
  void null() { raw_value("null"); }

  /// A value that is JSON already.
  void raw_value(std::string_view json) {
    comma();
    out_ += json;
  }

  /// Text that needs no escapes, with its quotes; `append(out)` puts it there.
  template <typename Append>
  void unescaped_string(Append&& append) {
    open('"');
    append(out_);
    out_ += '"';
  }

 private:
  /// A value follows another one unless it is the first of its array or the value of a key: only
  /// then one of these signs stands last, for every text ends in a quotation mark.
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

/// The JSON that `write(json)` writes, ending in a newline: one record of JSON Lines.
template <typename Write>
std::string json_line(Write&& write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  out += '\n';
  return out;
}

}  // namespace attn
