#include "base/json_place.h"

#include <cmath>

#include "base/error.h"
#include "base/strings/excerpt.h"

namespace attn {

std::string JsonPlace::path() const {
  if (above_ == nullptr) return "";
  std::string path = above_->path();
  if (key_.empty()) return fmt::format("{}[{}]", path, index_);
  if (!path.empty()) path += '.';
  return path.append(excerpt(key_));  // figures are named by whoever wrote the record
}

void JsonPlace::fail(std::string_view found, std::string_view expected) const {
  const std::string name = path();
  throw InputError("{}: {} is {}; expected {}", where_, name.empty() ? "it" : name, found,
                   expected);
}

void JsonPlace::fail(std::string_view expected) const {
  fail(value_.is_null() ? "null" : fmt::format("a JSON {}", value_.type_name()), expected);
}

JsonPlace JsonPlace::operator[](std::string_view key) const {
  const auto found = object().value_.find(key);
  if (found == value_.end()) {
    static const Json nothing;
    JsonPlace(nothing, *this, key, 0).fail("missing", "it to be there");
  }
  return {*found, *this, key, 0};
}

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const {
  const auto found = object().value_.find(key);
  if (found == value_.end()) return std::nullopt;
  return JsonPlace(*found, *this, key, 0);
}

const JsonPlace& JsonPlace::object() const {
  if (!value_.is_object()) fail("an object");
  return *this;
}

const JsonPlace& JsonPlace::array() const {
  if (!value_.is_array()) fail("an array");
  return *this;
}

const JsonPlace& JsonPlace::array(std::size_t count, std::string_view of) const {
  const auto expected = [&] { return fmt::format("an array of {} {}", count, of); };
  if (!value_.is_array()) fail(expected());
  if (size() != count) fail(fmt::format("an array of {}", size()), expected());
  return *this;
}

const std::string& JsonPlace::text() const {
  if (!value_.is_string()) fail("a text");
  return value_.get_ref<const std::string&>();
}

float JsonPlace::number() const {
  if (!value_.is_number()) fail("a number");
  const double number = value_.get<double>();
  if (std::abs(number) > std::numeric_limits<float>::max()) {
    fail(value_.dump(), "a number that 32 bits hold");
  }
  return static_cast<float>(number);
}

bool JsonPlace::truth() const {
  if (!value_.is_boolean()) fail("true or false");
  return value_.get<bool>();
}

std::uint64_t JsonPlace::whole(std::uint64_t most) const {
  if (!value_.is_number_unsigned()) {
    if (value_.is_number()) fail(value_.dump(), "a whole number from 0");
    fail("a whole number from 0");
  }
  const auto number = value_.get<std::uint64_t>();
  if (number > most) fail(fmt::format("{}", number), fmt::format("at most {}", most));
  return number;
}

std::uint64_t JsonPlace::below(std::uint64_t end) const {
  const std::uint64_t number = whole();
  if (number >= end) fail(fmt::format("{}", number), fmt::format("a number below {}", end));
  return number;
}

int JsonPlace::integer() const {
  return static_cast<int>(whole(std::numeric_limits<int>::max()));
}

std::vector<std::string> JsonPlace::texts() const {
  std::vector<std::string> texts;
  for_each([&](const JsonPlace& each) { texts.push_back(each.text()); });
  return texts;
}

void JsonPlace::numbers(std::size_t count, std::string_view of, std::vector<float>& out) const {
  for_each(count, of, [&](const JsonPlace& each) { out.push_back(each.number()); });
}

}  // namespace attn
