#include "config/key_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "base/error.h"
#include "config/experiment.h"
#include "config/other_names.h"

namespace attn {

std::string describe(const Json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string in_quotes(std::string_view text) {
  return describe(Json(std::string(text)));
}

std::string list_words(const std::vector<std::string>& words, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    list += words[i];
  }
  return list;
}

std::optional<int> as_int(const Json& value) {
  const auto where_it_fits = [](auto number) {
    return std::in_range<int>(number) ? std::optional(to_int(number)) : std::nullopt;
  };
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()) {
    return where_it_fits(value.get<std::uint64_t>());
  }
  return where_it_fits(value.get<std::int64_t>());
}

KeyReader::KeyReader(const Json& object, std::string where, std::string prefix)
    : object_(object), where_(std::move(where)), prefix_(std::move(prefix)) {
  if (object_.is_object()) return;
  const std::string name = prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1) + ": ";
  throw InputError("{}: {}expected a JSON object, {{...}}, but found {}", where_, name,
                   describe(object_));
}

thread_local std::vector<std::string>* KeyReader::watcher_ = nullptr;

const Json* KeyReader::find(const std::string& key) {
  if (watcher_ != nullptr) watcher_->push_back(prefix_ + key);
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

const Json* KeyReader::find_not_null(const std::string& key) {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void KeyReader::fail(const std::string& key, const std::string& message) const {
  throw InputError("{}: {}{} {}", where_, prefix_, key, message);
}

float KeyReader::as_float(const std::string& key, double value, double high,
                          const std::string& expected) const {
  const auto used = static_cast<float>(value);
  if (static_cast<double>(used) < high && (used != 0 || value == 0)) return used;
  fail(key, fmt::format("{} is {} as a 32-bit float; use {}", value, used, expected));
}

void KeyReader::fail_type(const std::string& key, const Json& found,
                          const std::string& expected) const {
  fail(key, fmt::format("is {}; expected {}", describe(found), expected));
}

std::optional<bool> KeyReader::boolean(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail_type(key, *value, "true or false");
  return value->get<bool>();
}

std::optional<double> KeyReader::number(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail_type(key, *value, "a number");
  return value->get<double>();
}

std::optional<std::string> KeyReader::text(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail_type(key, *value, "a string");
  return value->get<std::string>();
}

std::optional<int> KeyReader::integer(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const std::optional<int> number = as_int(*value)) return number;
  if (value->is_number_integer()) fail_type(key, *value, "an integer below 2147483648");
  fail_type(key, *value, "an integer");
}

std::optional<double> KeyReader::size(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->get<double>();
  // A number beyond 64 bits reaches us as floating point, however it was written.
  constexpr double kBeyond64Bits = 9.2e18;
  if (value->is_number_float() && std::fabs(value->get<double>()) > kBeyond64Bits) {
    return value->get<double>();
  }
  fail_type(key, *value, "an integer");
}

std::vector<std::string> KeyReader::unused() const {
  std::vector<std::string> keys;
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
      keys.push_back(item.key());
    }
  }
  return keys;
}

void KeyReader::refuse_unused() const {
  const std::vector<std::string> keys = unused();
  if (keys.empty()) return;
  const std::string what = prefix_.empty() ? "section" : "key";
  const std::string inside =
      prefix_.empty() ? "" : fmt::format(" in {}", prefix_.substr(0, prefix_.size() - 1));
  const std::string found = fmt::format("unknown {} {}{}", what, in_quotes(keys.front()), inside);
  const std::vector<std::string> meant = keys_for_alias(keys.front(), known_);
  if (!meant.empty()) {
    throw InputError("{}: {}; its name here is {}", where_, found,
                     fmt::format("{}", fmt::join(meant, " and ")));
  }
  const std::string close = nearest_word(keys.front(), known_);
  if (known_.size() <= 4 && edit_distance(keys.front(), close) > 2) {  // near to nothing
    throw InputError("{}: {}; its keys are {}", where_, found,
                     fmt::format("{}", fmt::join(known_, ", ")));
  }
  throw InputError("{}: {}; the nearest known one is {}", where_, found, in_quotes(close));
}

}  // namespace attn
