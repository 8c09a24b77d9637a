// A JSON value and where it stands, so that a message can name it: hypotheses[0].ids[3].
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace attn {

/// Typed looks at a document from outside. Each throws InputError "WHERE: PATH is …; expected …"
/// where the value is of another kind. A place refers to the one it was reached from, to its key
/// and to `where`: all of them outlive it.
class JsonReader {
 public:
  JsonReader(const Json& value, const std::string& where) : value_(value), where_(where) {}

  const Json& value() const { return value_; }
  std::size_t size() const { return value_.size(); }

  /// A member that must be there, of an object.
  JsonReader operator[](std::string_view key) const;
  /// A member that may be absent, of an object.
  std::optional<JsonReader> find(std::string_view key) const;
  /// An element of an array, by a number below size().
  JsonReader operator[](std::size_t index) const { return {value_[index], *this, {}, index}; }

  const JsonReader& object() const;
  const JsonReader& array() const;
  /// An array of `count` elements; `of` says what they are ("rows, one a query").
  const JsonReader& array(std::size_t count, std::string_view of) const;
  const std::string& string() const;
  float number() const;  ///< that a 32-bit float holds
  bool boolean() const;
  /// From 0.
  std::uint64_t unsigned_integer(
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  std::uint64_t index_below(
      std::uint64_t end) const;  ///< a whole number, as an index of `end` things
  int integer() const;           ///< from 0, that an int holds

  /// Calls `each(element)` for those of an array.
  template <typename Each>
  void for_each(Each&& each) const {
    array();
    for (std::size_t i = 0; i < size(); ++i) each((*this)[i]);
  }
  /// The same for an array of `count`; `of` as array() has it.
  template <typename Each>
  void for_each(std::size_t count, std::string_view of, Each&& each) const {
    array(count, of);
    for_each(each);
  }
  std::vector<std::string> strings() const;
  /// An array of `count` numbers, put at the end of `out`.
  void numbers(std::size_t count, std::string_view of, std::vector<float>& out) const;

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;
  /// Says what kind of value was found.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  JsonReader(const Json& value, const JsonReader& parent, std::string_view key, std::size_t index)
      : value_(value), where_(parent.where_), parent_(&parent), key_(key), index_(index) {}

  std::string path() const;

  const Json& value_;
  const std::string& where_;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;  ///< empty in an array
  std::size_t index_ = 0;
};

}  // namespace attn
