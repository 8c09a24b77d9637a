// A JSON value and its path, so that messages can name it: hypotheses[0].ids[3].
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

/// Typed access to a document from outside. Every accessor throws InputError "WHERE: PATH is …;
/// expected …" if the value has another type. A reader refers to the reader it was reached from, to
/// its key and to `where`, so all of them must outlive it.
class JsonReader {
 public:
  JsonReader(const Json& value, const std::string& where) : value_(value), where_(where) {}

  const Json& value() const { return value_; }
  std::size_t size() const { return value_.size(); }

  /// Returns a required member of an object.
  JsonReader operator[](std::string_view key) const;
  /// Returns an optional member of an object.
  std::optional<JsonReader> find(std::string_view key) const;
  /// Returns an element of an array; `index` must be below size().
  JsonReader operator[](std::size_t index) const { return {value_[index], *this, {}, index}; }

  const JsonReader& object() const;
  const JsonReader& array() const;
  /// Checks that this is an array of `count` elements. Messages name the elements by `of`, for
  /// example "rows, one per query".
  const JsonReader& array(std::size_t count, std::string_view of) const;
  const std::string& string() const;
  float number() const;  ///< must fit a 32-bit float
  bool boolean() const;
  /// Returns an integer from 0 to `most`.
  std::uint64_t unsigned_integer(
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// Returns an integer below `end`.
  std::uint64_t index_below(std::uint64_t end) const;
  int integer() const;  ///< from 0, and must fit an int

  /// Calls `each(element)` for each element of an array.
  template <typename Each>
  void for_each(Each&& each) const {
    array();
    for (std::size_t i = 0; i < size(); ++i) each((*this)[i]);
  }
  /// The same for an array of `count` elements; `of` is passed to array().
  template <typename Each>
  void for_each(std::size_t count, std::string_view of, Each&& each) const {
    array(count, of);
    for_each(each);
  }
  std::vector<std::string> strings() const;
  /// Appends an array of `count` numbers to `out`.
  void numbers(std::size_t count, std::string_view of, std::vector<float>& out) const;

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;
  /// Names the type of the value that was found.
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
