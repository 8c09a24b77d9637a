#include "text/byte_level_bpe.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <queue>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

enum class CharacterClass { letter, number, space, other };

struct NewCharacters {
  char32_t first;
  char32_t last;
  CharacterClass kind;
};

/// Letters and numbers added after Unicode 15.0, the version of Debian 12's ICU; the tokenizers
/// library knows them. A newer ICU gives the same classes.
constexpr NewCharacters kNewCharacters[] = {
    {0x1C89, 0x1C8A, CharacterClass::letter},   {0xA7CB, 0xA7CD, CharacterClass::letter},
    {0xA7DA, 0xA7DC, CharacterClass::letter},   {0x105C0, 0x105F3, CharacterClass::letter},
    {0x10D40, 0x10D49, CharacterClass::number}, {0x10D4A, 0x10D65, CharacterClass::letter},
    {0x10D6F, 0x10D85, CharacterClass::letter}, {0x10EC2, 0x10EC4, CharacterClass::letter},
    {0x11380, 0x11389, CharacterClass::letter}, {0x1138B, 0x1138B, CharacterClass::letter},
    {0x1138E, 0x1138E, CharacterClass::letter}, {0x11390, 0x113B5, CharacterClass::letter},
    {0x113B7, 0x113B7, CharacterClass::letter}, {0x113D1, 0x113D1, CharacterClass::letter},
    {0x113D3, 0x113D3, CharacterClass::letter}, {0x116D0, 0x116E3, CharacterClass::number},
    {0x11BC0, 0x11BE0, CharacterClass::letter}, {0x11BF0, 0x11BF9, CharacterClass::number},
    {0x13460, 0x143FA, CharacterClass::letter}, {0x16100, 0x1611D, CharacterClass::letter},
    {0x16130, 0x16139, CharacterClass::number}, {0x16D40, 0x16D6C, CharacterClass::letter},
    {0x16D70, 0x16D79, CharacterClass::number}, {0x18CFF, 0x18CFF, CharacterClass::letter},
    {0x1CCF0, 0x1CCF9, CharacterClass::number}, {0x1E5D0, 0x1E5ED, CharacterClass::letter},
    {0x1E5F0, 0x1E5F0, CharacterClass::letter}, {0x1E5F1, 0x1E5FA, CharacterClass::number},
    {0x2EBF0, 0x2EE5D, CharacterClass::letter},
};

CharacterClass class_of(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  const std::uint32_t category = U_GET_GC_MASK(point);
  if ((category & U_GC_L_MASK) != 0) return CharacterClass::letter;
  if ((category & U_GC_N_MASK) != 0) return CharacterClass::number;
  if (u_hasBinaryProperty(point, UCHAR_WHITE_SPACE)) return CharacterClass::space;
  const auto* found = std::lower_bound(
      std::begin(kNewCharacters), std::end(kNewCharacters), c,
      [](const NewCharacters& range, char32_t value) { return range.last < value; });
  return found != std::end(kNewCharacters) && found->first <= c ? found->kind
                                                                : CharacterClass::other;
}

/// One character of the text.
struct ClassifiedCharacter {
  std::size_t begin;
  CharacterClass kind;
};

/// Returns the length of the contraction ('s, 't, 're, 've, 'm, 'll, 'd) that the text begins with,
/// or 0.
std::size_t contraction(std::string_view text) {
  constexpr std::string_view kEndings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view ending : kEndings) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

/// Returns the end of the run of characters from `i` on that have the same class.
std::size_t end_of_run(const std::vector<ClassifiedCharacter>& places, std::size_t i) {
  const CharacterClass kind = places[i].kind;
  while (i < places.size() && places[i].kind == kind) ++i;
  return i;
}

/// Returns the end of the word that begins at character `i`.
std::size_t end_of_word(const std::vector<ClassifiedCharacter>& places, std::string_view text,
                        std::size_t i) {
  if (const std::size_t length = contraction(text.substr(places[i].begin))) return i + length;
  if (places[i].kind != CharacterClass::space) return end_of_run(places, i);
  const bool last = i + 1 == places.size();
  const bool before_word = !last && places[i + 1].kind != CharacterClass::space;
  if (before_word && text[places[i].begin] == ' ') return end_of_run(places, i + 1);
  const std::size_t end = end_of_run(places, i);
  return end == places.size() || end == i + 1 ? end : end - 1;
}

struct ByteTable {
  std::array<char32_t, kByteValues> characters{};
  std::array<std::int16_t, 0x200> bytes{};  ///< indexed by character; −1 for none

  ByteTable() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (int i = 0; i < kByteValues; ++i) {
      const bool printable =
          (i >= '!' && i <= '~') || (i >= 0xA1 && i <= 0xAC) || (i >= 0xAE && i <= 0xFF);
      at(characters, i) = printable ? static_cast<char32_t>(i) : next++;
      at(bytes, static_cast<int>(at(characters, i))) = static_cast<std::int16_t>(i);
    }
  }
};

const ByteTable& byte_table() {
  static const ByteTable table;
  return table;
}

}  // namespace

std::vector<std::string_view> byte_level_words(std::string_view text) {
  std::vector<ClassifiedCharacter> places;
  places.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_code_point(text.substr(i));
    places.push_back({i, class_of(c.value)});
    i += c.length;
  }
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t end = end_of_word(places, text, i);
    const std::size_t behind = end < places.size() ? places[end].begin : text.size();
    words.push_back(text.substr(places[i].begin, behind - places[i].begin));
    i = end;
  }
  return words;
}

char32_t byte_to_unicode(unsigned char byte) {
  return at(byte_table().characters, int{byte});
}

std::optional<std::string> bytes_of_token(std::string_view piece) {
  std::string bytes;
  for (std::size_t i = 0; i < piece.size();) {
    const CodePoint c = decode_code_point(piece.substr(i));
    const auto& table = byte_table().bytes;
    if (c.value >= table.size() || table[c.value] < 0) return std::nullopt;
    bytes += static_cast<char>(table[c.value]);
    i += c.length;
  }
  return bytes;
}

std::string readable_token(std::string_view piece) {
  const std::optional<std::string> bytes = bytes_of_token(piece);
  if (!bytes) return std::string(piece);
  std::string text;
  for (std::size_t i = 0; i < bytes->size();) {
    const std::string_view rest = std::string_view(*bytes).substr(i);
    const CodePoint c = decode_code_point(rest);
    const bool control = c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0);
    if (c.valid && c.value == ' ') {
      text += "▁";
    } else if (c.valid && !control) {
      text += rest.substr(0, c.length);
    } else {
      for (const char byte : rest.substr(0, c.length)) text += byte_piece(byte_value(byte));
    }
    i += c.length;
  }
  return text;
}

namespace {

std::uint64_t key_of(int left, int right) {
  return std::uint64_t{to_size(left)} << 32 | to_size(right);
}

}  // namespace

BpeMerges::BpeMerges(std::string_view text, const Vocabulary& vocabulary,
                     const std::string& where) {
  if (!is_valid_utf8(text)) {
    throw InputError("{}: found bytes that are not UTF-8; expected one pair of pieces per line",
                     where);
  }
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (line.starts_with("#version")) continue;
    const auto here = [&] { return where + ":" + std::to_string(number); };
    const std::size_t blank = line.find(' ');
    const bool two = blank != line.npos && blank > 0 && blank + 1 < line.size() &&
                     line.find(' ', blank + 1) == line.npos;
    if (!two) {
      throw InputError("{}: found \"{}\"; expected two pieces with one space between them", here(),
                       excerpt(line));
    }
    add(line.substr(0, blank), line.substr(blank + 1), vocabulary, here);
  }
}

void BpeMerges::add(std::string_view left, std::string_view right, const Vocabulary& vocabulary,
                    const std::function<std::string()>& where) {
  const auto id_of = [&](const std::string& piece) {
    if (const auto id = vocabulary.find(piece)) return *id;
    throw InputError("{}: \"{}\" is not in the vocabulary; expected merges of its pieces", where(),
                     excerpt(piece));
  };
  const std::string first(left);
  const std::string second(right);
  const int left_id = id_of(first);
  const int right_id = id_of(second);
  const Merge merge{narrow_cast<std::uint32_t>(merges_.size()), id_of(first + second)};
  if (!merges_.emplace(key_of(left_id, right_id), merge).second) {
    throw InputError("{}: the pair \"{}\" occurs a second time; expected it once", where(),
                     excerpt(first + " " + second));
  }
}

const BpeMerges::Merge* BpeMerges::find(int left, int right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

/// A word while its tokens are merged: a linked list in which merged right halves are marked as
/// gone.
class BpeMerges::Word {
 public:
  Word(const BpeMerges& merges, std::vector<int>& ids) : merges_(merges), ids_(ids) {
    const auto count = narrow_cast<std::uint32_t>(ids.size());
    next_.resize(count);
    before_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      next_[i] = i + 1;
      before_[i] = i - 1;  // kNone for the first one
    }
    for (std::uint32_t i = 0; i + 1 < count; ++i) offer(i);
  }

  void join_all() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (ids_[best.left] == kGone || next_[best.left] == ids_.size()) continue;
      const std::uint32_t right = next_[best.left];
      const Merge* merge = merges_.find(ids_[best.left], ids_[right]);
      // The neighbors may have changed since, but may still give the same token.
      if (merge == nullptr || merge->joint != best.joint) continue;
      ids_[best.left] = best.joint;
      ids_[right] = kGone;
      next_[best.left] = next_[right];
      if (next_[right] < ids_.size()) before_[next_[right]] = best.left;
      if (before_[best.left] != kNone) offer(before_[best.left]);
      if (next_[best.left] < ids_.size()) offer(best.left);
    }
    std::erase(ids_, kGone);
  }

 private:
  static constexpr int kGone = -1;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct LowerPriority {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };

  void offer(std::uint32_t left) {
    if (const Merge* merge = merges_.find(ids_[left], ids_[next_[left]])) {
      queue_.push({merge->rank, left, merge->joint});
    }
  }

  const BpeMerges& merges_;
  std::vector<int>& ids_;
  std::vector<std::uint32_t> next_;  ///< position of the right neighbor; the size if there is none
  std::vector<std::uint32_t> before_;  ///< position of the left neighbor
  std::priority_queue<Candidate, std::vector<Candidate>, LowerPriority> queue_;
};

void BpeMerges::join(std::vector<int>& ids) const {
  if (ids.size() > 1) Word(*this, ids).join_all();
}

}  // namespace attn
