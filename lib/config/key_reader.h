// Reads the keys of one JSON object with strict types, and remembers which keys were asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace attn {

/// A JSON value as a message shows it: on one line, escaped, at most about 40 characters.
std::string describe(const Json& value);

/// A key in quotes, with everything that a terminal would act upon escaped.
std::string in_quotes(std::string_view text);

/// "1, 2, 3 or 4".
std::string list_words(const std::vector<std::string>& words, std::string_view last = "or");

/// The typed readers return nothing where the key is absent and throw InputError where its value
/// has another type. null counts as a value of the wrong type, except for allow_null keys.
class KeyReader {
 public:
  /// `where` begins every message; `prefix` ("model.") stands before each key in messages.
  KeyReader(const Json& object, std::string where, std::string prefix = "");

  /// The value of a key, or null pointer; the key counts as known from now on.
  const Json* find(const std::string& key);
  /// As find, but a JSON null counts as absent.
  const Json* find_not_null(const std::string& key);

  std::optional<bool> boolean(const std::string& key);
  std::optional<double> number(const std::string& key);  ///< any JSON number
  std::optional<std::string> text(const std::string& key);
  /// An integer of 32 bits; 2.0 and true are none.
  std::optional<int> integer(const std::string& key);
  /// An integer of any size, exact up to 2^53: sizes are compared with their limits afterwards, so
  /// 1e30 is a (huge) size and 2.0 is not an integer.
  std::optional<double> size(const std::string& key);

  /// `value` of a key as the 32-bit float that it is used as; InputError "…; use EXPECTED" where
  /// that is `high` or more, or 0 where `value` is not.
  float as_float(const std::string& key, double value, double high,
                 const std::string& expected) const;

  /// The keys that no call has named, in the order of the file.
  std::vector<std::string> unused() const;
  /// InputError for the first unused key, naming the nearest that was asked for.
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

/// The integer in `value`, or nothing where it is no integer of 32 bits.
std::optional<int> as_int(const Json& value);

// What other programs and papers call the keys of experiment files.

/// Those of `known` that other programs call `word`: for "heads" encoder_attention_heads and
/// decoder_attention_heads. Empty where nobody does.
std::vector<std::string> keys_for_alias(const std::string& word,
                                        const std::vector<std::string>& known);

}  // namespace attn
