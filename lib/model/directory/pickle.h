// Python's pickles as data: what a pickle would have called is noted down, and nothing is called.
// The format: the comments of Lib/pickletools.py in CPython.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// One value. Values refer to each other as they do in Python, so a list may hold itself: whoever
/// walks over them sets his own bound to the depth.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,  ///< its number is not kept
    text,
    tuple,
    list,
    dict,        ///< also a collections.OrderedDict; its parts are key, value, key, value, …
    global,      ///< `text` is its name with its module: "torch.FloatStorage"
    call,        ///< what `text` would have made of its arguments: its part, a tuple
    persistent,  ///< what lies outside of the pickle, by a name that is its part
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  std::string_view text;  ///< a part of the pickle, or of AllowedPickleNames
  std::vector<const PickleValue*> parts;
};

/// What a pickle may name; anything else is refused, by its name.
struct AllowedPickleNames {
  std::vector<std::string_view> values;     ///< may be named only
  std::vector<std::string_view> functions;  ///< may be noted as called
};

class Pickle {
 public:
  /// Reads `bytes`, which outlive it: protocols 2 to 4, as far as they make plain values, calls of
  /// `names` and collections.OrderedDict without arguments, whose attributes (BUILD) are passed
  /// over. InputError, beginning with `where`, for everything else: other globals, opcodes and
  /// calls, BUILD of anything else, lengths beyond the end, unknown places of the memo, values that
  /// are missing, 4 million of them, bytes behind the end.
  Pickle(std::string_view bytes, const AllowedPickleNames& names, const std::string& where);

  const PickleValue& value() const { return *value_; }

 private:
  friend class PickleReader;
  std::deque<PickleValue> values_;
  const PickleValue* value_ = nullptr;
};

}  // namespace attn
