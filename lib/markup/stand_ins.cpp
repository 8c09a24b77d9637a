#include "markup/stand_ins.h"

#include <algorithm>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

constexpr std::size_t kMostWords = 30;

bool ends_in_word(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_continuation_byte(text[--begin])) {
  }
  return has_words(text.substr(begin));
}

bool begins_with_word(std::string_view text) {
  return !text.empty() && has_words(text.substr(0, decode_code_point(text).length));
}

bool is_whitespace(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_space);
}

/// Builds a segment with words for the placeholders of another one.
class StandInBuilder {
 public:
  explicit StandInBuilder(const MarkedSegment& source) : source_(source) {
    made_.segment.before = source.before;
    made_.segment.html = source.html;
    made_.segment.entities = source.entities;
    made_.segment.bare_ampersand = source.bare_ampersand;
    all_ = source.text;
    for (const MarkupItem& item : source.items) all_ += ' ' + item.bytes;
  }

  std::optional<StandIns> build() {
    std::vector<int> moved(source_.items.size(), -1);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < source_.items.size(); ++i) {
      const MarkupItem& item = source_.items[i];
      add_text(std::string_view(source_.text).substr(taken, item.offset - taken));
      taken = item.offset;
      if (item.placeholder) {
        add_placeholder(item);
      } else {
        moved[i] = to_int(made_.segment.items.size());
        add_item(item);
      }
      wants_space_ = wants_space_ || item.space_after;
    }
    add_text(std::string_view(source_.text).substr(taken));
    if (made_.words.empty() || failed_) return std::nullopt;
    for (MarkupItem& item : made_.segment.items) {
      if (item.partner >= 0) item.partner = at(moved, item.partner);
      const bool edge = item.offset == 0 || item.offset == made_.segment.text.size();
      if (item.type == ItemType::space && edge) item.type = ItemType::point;
    }
    return std::move(made_);
  }

 private:
  std::string& text() { return made_.segment.text; }

  void add_space() {
    if (!text().empty() && !is_ascii_space(text().back())) text() += ' ';
    wants_space_ = after_stand_in_ = false;
  }

  void add_text(std::string_view part) {
    if (part.empty()) return;
    if (wants_space_ && !is_ascii_space(part.front())) add_space();
    failed_ = failed_ || (after_stand_in_ && begins_with_word(part));
    text() += part;
    wants_space_ = after_stand_in_ = false;
  }

  void add_placeholder(const MarkupItem& item) {
    if (wants_space_ || item.space_before) add_space();
    if (after_stand_in_ && made_.segment.items.size() == items_before_) {
      made_.words.back().second += item.bytes;
      return;
    }
    failed_ = failed_ || made_.words.size() == kMostWords || ends_in_word(text());
    if (failed_) return;
    std::string word;
    do word = "X" + std::to_string(++number_);
    while (all_.find(word) != all_.npos);
    text() += word;
    made_.words.emplace_back(word, item.bytes);
    after_stand_in_ = true;
    items_before_ = made_.segment.items.size();
  }

  void add_item(const MarkupItem& item) {
    if (item.space_before || (wants_space_ && item.type != ItemType::space)) add_space();
    made_.segment.items.push_back(item);
    MarkupItem& added = made_.segment.items.back();
    added.offset = text().size();
    // A line break between a placeholder and text is inside the sentence now.
    if (item.type != ItemType::point || !is_whitespace(item.bytes) || text().empty()) return;
    added.type = ItemType::space;
    wants_space_ = true;
  }

  const MarkedSegment& source_;
  StandIns made_;
  std::string all_;  ///< the text and all markup
  int number_ = 0;
  std::size_t items_before_ = 0;  ///< the number of items at the last word
  bool wants_space_ = false;      ///< whitespace precedes the next text
  bool after_stand_in_ = false;   ///< the text ends with a word for a placeholder
  bool failed_ = false;
};

/// Returns where a word begins that no digit follows.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (end == text.size() || !is_digit(text[end])) return at;
  }
  return text.npos;
}

}  // namespace

std::optional<StandIns> with_stand_ins(const MarkedSegment& segment) {
  if (std::ranges::none_of(segment.items, &MarkupItem::placeholder)) return std::nullopt;
  return StandInBuilder(segment).build();
}

bool keeps_stand_ins(const StandIns& stand_ins, std::string_view translation) {
  return std::ranges::all_of(stand_ins.words, [&](const auto& pair) {
    const std::size_t at = find_word(translation, pair.first);
    if (at == translation.npos) return false;
    const std::string_view after = translation.substr(at + pair.first.size());
    const bool inflected = after.starts_with('s') && !begins_with_word(after.substr(1));
    return !ends_in_word(translation.substr(0, at)) && (inflected || !begins_with_word(after)) &&
           find_word(translation, pair.first, at + 1) == translation.npos;
  });
}

std::string restore_placeholders(const StandIns& stand_ins, std::string text) {
  for (const auto& [word, placeholder] : stand_ins.words) {
    const std::size_t at = find_word(text, word);
    if (at != text.npos) text.replace(at, word.size(), placeholder);
  }
  return text;
}

}  // namespace attn
