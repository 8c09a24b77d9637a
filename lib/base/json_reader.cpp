#include "base/json_reader.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {

std::string JsonReader::path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->path();
  if (key_.empty()) return fmt::format("{}[{}]", path, index_);
  if (!path.empty()) path += '.';
  // Keys come from outside, so they are cut to a readable length.
  return path.append(excerpt(key_));
}

void JsonReader::fail(std::string_view found, std::string_view expected) const {
  const std::string name = path();
  throw InputError("{}: {} is {}; expected {}", where_, name.empty() ? "it" : name, found,
                   expected);
}

void JsonReader::fail(std::string_view expected) const {
  fail(value_.is_null() ? "null" : fmt::format("a JSON {}", value_.type_name()), expected);
}

JsonReader JsonReader::operator[](std::string_view key) const {
  const auto found = object().value_.find(key);
  if (found == value_.end()) {
    static const Json nothing;
    JsonReader(nothing, *this, key, 0).fail("missing", "it to be there");
  }
  return {*found, *this, key, 0};
}

std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  const auto found = object().value_.find(key);
  if (found == value_.end()) return std::nullopt;
  return JsonReader(*found, *this, key, 0);
}

const JsonReader& JsonReader::object() const {
  if (!value_.is_object()) fail("an object");
  return *this;
}

const JsonReader& JsonReader::array() const {
  if (!value_.is_array()) fail("an array");
  return *this;
}

const JsonReader& JsonReader::array(std::size_t count, std::string_view of) const {
  const auto expected = [&] {
    std::string entries(of);  // "rows, one per query"
    const std::size_t end = std::min(entries.find(','), entries.size());
    if (count == 1 && end > 0 && entries[end - 1] == 's') entries.erase(end - 1, 1);
    return fmt::format("an array of {} {}", count, entries);
  };
  if (!value_.is_array()) fail(expected());
  if (size() != count) fail(fmt::format("an array of {}", size()), expected());
  return *this;
}

const std::string& JsonReader::string() const {
  if (!value_.is_string()) fail("a text");
  return value_.get_ref<const std::string&>();
}

float JsonReader::number() const {
  if (!value_.is_number()) fail("a number");
  const double number = value_.get<double>();
  if (std::abs(number) > std::numeric_limits<float>::max()) {
    fail(value_.dump(), "a number that fits 32 bits");
  }
  return static_cast<float>(number);
}

bool JsonReader::boolean() const {
  if (!value_.is_boolean()) fail("true or false");
  return value_.get<bool>();
}

std::uint64_t JsonReader::unsigned_integer(std::uint64_t most) const {
  if (!value_.is_number_unsigned()) {
    if (value_.is_number()) fail(value_.dump(), "a whole number from 0");
    fail("a whole number from 0");
  }
  const auto number = value_.get<std::uint64_t>();
  if (number > most) fail(fmt::format("{}", number), fmt::format("at most {}", most));
  return number;
}

std::uint64_t JsonReader::index_below(std::uint64_t end) const {
  const std::uint64_t number = unsigned_integer();
  if (number >= end) fail(fmt::format("{}", number), fmt::format("a number below {}", end));
  return number;
}

int JsonReader::integer() const {
  return static_cast<int>(unsigned_integer(std::numeric_limits<int>::max()));
}

std::vector<std::string> JsonReader::strings() const {
  std::vector<std::string> strings;
  for_each([&](const JsonReader& each) { strings.push_back(each.string()); });
  return strings;
}

void JsonReader::numbers(std::size_t count, std::string_view of, std::vector<float>& out) const {
  for_each(count, of, [&](const JsonReader& each) { out.push_back(each.number()); });
}

}  // namespace attn
