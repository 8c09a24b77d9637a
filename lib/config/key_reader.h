// Reads the keys of one JSON object with strict types, remembers which keys were asked for, and
// suggests the right key for an unknown one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace attn {

/// Formats a JSON value for a message: on one line, escaped, at most about 40 characters.
std::string describe(const Json& value);

/// Puts a key in quotes and escapes everything that a terminal would act upon.
std::string in_quotes(std::string_view text);

/// Joins words as in "1, 2, 3 or 4".
std::string list_words(const std::vector<std::string>& words, std::string_view last = "or");

/// The typed readers return nothing if the key is absent, and throw InputError if its value has
/// another type. null has the wrong type.
class KeyReader {
 public:
  /// `where` begins every message. `prefix` ("model.") precedes each key in messages.
  KeyReader(const Json& object, std::string where, std::string prefix = "");

  /// Returns the value of a key, or a null pointer. The key is known from now on.
  const Json* find(const std::string& key);
  /// Like find(), but treats a JSON null as absent.
  const Json* find_not_null(const std::string& key);

  std::optional<bool> boolean(const std::string& key);
  std::optional<double> number(const std::string& key);  ///< any JSON number
  std::optional<std::string> text(const std::string& key);
  /// Reads a 32-bit integer. 2.0 and true are not integers.
  std::optional<int> integer(const std::string& key);
  /// Reads an integer of any size, exact up to 2^53. The caller checks it against its limit, so
  /// 1e30 is a (huge) size, while 2.0 is not an integer.
  std::optional<double> size(const std::string& key);

  /// Converts a key's `value` to the 32-bit float that is used. Throws InputError "…; use EXPECTED"
  /// if the float is `high` or more, or 0 although `value` is not.
  float as_float(const std::string& key, double value, double high,
                 const std::string& expected) const;

  /// Returns the keys that no call asked for, in the order of the file.
  std::vector<std::string> unused() const;
  /// Throws InputError for the first unused key and suggests the nearest known one.
  void refuse_unused() const;

  /// Throws InputError "where: prefix+key MESSAGE".
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;
  [[noreturn]] void fail_type(const std::string& key, const Json& found,
                              const std::string& expected) const;

  /// Returns the keys, with their prefixes, that any reader looks for while `read` runs.
  template <typename Read>
  static std::vector<std::string> keys_read_by(Read&& read) {
    std::vector<std::string> keys;
    watcher_ = &keys;
    read();
    watcher_ = nullptr;
    return keys;
  }

  const std::string& where() const { return where_; }
  const std::string& prefix() const { return prefix_; }

 private:
  const Json& object_;
  std::string where_;
  std::string prefix_;
  std::vector<std::string> known_;
  static thread_local std::vector<std::string>* watcher_;  ///< see keys_read_by
};

/// Returns the integer in `value`, or nothing if it is not a 32-bit integer.
std::optional<int> as_int(const Json& value);

// Suggestions for unknown keys.

/// Returns the edit distance: how many bytes must be inserted, deleted or replaced to turn one word
/// into the other.
std::size_t edit_distance(std::string_view word, std::string_view other);

/// Returns the known word to suggest for `word`: one that begins with it, else the one with the
/// smallest edit distance, the first on ties.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

/// Returns the keys in `known` that other programs and papers call `word`: for "heads"
/// encoder_attention_heads and decoder_attention_heads. Empty if there are none.
std::vector<std::string> keys_for_alias(const std::string& word,
                                        const std::vector<std::string>& known);

}  // namespace attn
