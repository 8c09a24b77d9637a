#include "text/vocabulary.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

using Entries = std::vector<std::pair<std::string, int>>;

constexpr std::size_t kMaxDigits = 9;  // digits of an id; longer ones are out of range

/// A fast reader for {"token": id, …} only. The file is read at every start, and this is many
/// times faster than building a document tree. For anything unusual, read() returns false and the
/// strict parser reports the problem.
class FlatObjectReader {
 public:
  explicit FlatObjectReader(std::string_view text) : text_(text) {}

  bool read(Entries& entries) {
    if (!take('{')) return false;
    if (take('}')) return at_end();
    do {
      std::string piece;
      int id = 0;
      if (!take('"') || !read_string(piece) || !take(':') || !read_id(id)) return false;
      entries.emplace_back(std::move(piece), id);
    } while (take(','));
    return take('}') && at_end();
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  bool read_string(std::string& out) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (byte_value(c) < 0x20) return false;
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c != '\\') {
        out += c;
      } else if (!read_escape(out)) {
        return false;
      }
    }
    return false;
  }

  /// Reads from the backslash to the last character of the escape.
  bool read_escape(std::string& out) {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    if (++at_ == text_.size()) return false;
    if (const std::size_t i = kShort.find(text_[at_]); i != kShort.npos) {
      out += kMeaning[i];
      return true;
    }
    char32_t value = 0;
    if (text_[at_] != 'u' || !read_hex(value) || (value >= 0xDC00 && value < 0xE000)) return false;
    if (value >= 0xD800 && value < 0xE000) {
      char32_t low = 0;
      if (text_.substr(at_ + 1, 2) != "\\u") return false;
      at_ += 2;
      if (!read_hex(low) || low < 0xDC00 || low >= 0xE000) return false;
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
    }
    append_code_point(out, value);
    return true;
  }

  bool read_hex(char32_t& value) {
    for (int i = 0; i < 4; ++i) {
      if (++at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<char32_t>(c - '0');
      } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
        value = value * 16 + static_cast<char32_t>((c | 0x20) - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  bool read_id(int& id) {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (at_ - begin == kMaxDigits) return false;
      id = id * 10 + (text_[at_++] - '0');
    }
    return at_ > begin && (text_[begin] != '0' || at_ == begin + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Throws the error for a vocabulary that the fast reader rejected.
[[noreturn]] void explain(std::string_view json, const std::string& where) {
  const Json document = parse_json(json, where);
  if (!document.is_object()) {
    throw InputError(
        "{}: found {} {}; expected an object of pieces and their ids, {{\"</s>\": 0, …}}", where,
        document.is_array() ? "an" : "a", document.type_name());
  }
  for (const auto& [piece, id] : document.items()) {
    const bool in_range = id.is_number_unsigned() && id.get<std::uint64_t>() < document.size();
    if (in_range) continue;
    throw InputError("{}: the id of piece \"{}\" is {}; expected an integer from 0 to {}", where,
                     excerpt(piece), excerpt(id.dump()), document.size() - 1);
  }
  throw InputError("{}: found an id in an unusual form; expected plain integers", where);
}

/// Returns the tokens by id. Every id from 0 to n − 1 must occur once.
std::vector<std::string> order_by_id(Entries entries, const std::string& where) {
  const std::size_t count = entries.size();
  std::vector<std::string> pieces(count);
  std::vector<bool> taken(count);
  const std::pair<std::string, int>* out_of_range = nullptr;
  for (auto& entry : entries) {
    const auto id = to_size(entry.second);
    if (id >= count) {
      if (!out_of_range) out_of_range = &entry;
      continue;
    }
    if (taken[id]) {
      throw InputError("{}: id {} belongs to both \"{}\" and \"{}\"; expected each id once", where,
                       id, excerpt(pieces[id]), excerpt(entry.first));
    }
    taken[id] = true;
    pieces[id] = std::move(entry.first);
  }
  if (out_of_range) {
    const auto missing = std::find(taken.begin(), taken.end(), false) - taken.begin();
    throw InputError(
        "{}: piece \"{}\" has id {} and id {} is missing; expected each id from 0 to {} once, as "
        "the file holds {}",
        where, excerpt(out_of_range->first), out_of_range->second, missing, count - 1,
        counted(count, "piece"));
  }
  return pieces;
}

}  // namespace

Vocabulary Vocabulary::parse(std::string_view json, const std::string& where) {
  Entries entries;
  entries.reserve(json.size() / 16);
  if (!is_valid_utf8(json) || !FlatObjectReader(json).read(entries)) explain(json, where);
  return of(std::move(entries), where);
}

Vocabulary Vocabulary::of(std::vector<std::pair<std::string, int>> entries,
                          const std::string& where) {
  if (entries.empty()) throw InputError("{}: no pieces; expected at least one", where);
  Vocabulary vocabulary;
  vocabulary.pieces_ = order_by_id(std::move(entries), where);
  vocabulary.ids_.reserve(vocabulary.pieces_.size());
  for (int id = 0; id < vocabulary.size(); ++id) {
    const auto [earlier, inserted] = vocabulary.ids_.emplace(vocabulary.piece(id), id);
    if (!inserted) {
      throw InputError("{}: the piece \"{}\" occurs twice, with ids {} and {}; expected it once",
                       where, excerpt(vocabulary.piece(id)), earlier->second, id);
    }
  }
  return vocabulary;
}

std::optional<int> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? std::nullopt : std::optional<int>(found->second);
}

}  // namespace attn
