#include "markup/marked_text.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/html_tokenizer.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

constexpr int kNoPartner = -1;

/// Returns the last character of a text.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_continuation_byte(text[--begin])) {
  }
  return text.substr(begin);
}

/// Collects segments from pieces of text and markup in the order of the source.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(bool html) : html_(html) { segment_.html = html; }

  /// Adds text as the model should see it; `source` is its original form. Neither is whitespace.
  void add_text(std::string_view text, std::string_view source) {
    raw_ += source;
    settle_spaces(text);
    segment_.text += text;
  }

  /// Adds whitespace.
  void add_space(std::string_view source) {
    raw_ += source;
    if (!segment_.items.empty()) {
      MarkupItem& last = segment_.items.back();
      last.space_after = last.type != ItemType::space && last.offset == segment_.text.size();
    }
    segment_.items.push_back({ItemType::space, std::string(source), segment_.text.size()});
  }

  /// Adds markup. `id` is the same for both ends of an element, and negative if one end is
  /// missing.
  void add_item(ItemType type, std::string_view source, bool placeholder, int id = kNoPartner) {
    raw_ += source;
    ++(placeholder ? result_.counts.placeholders : result_.counts.tags);
    const bool space = !segment_.items.empty() && segment_.items.back().type == ItemType::space &&
                       segment_.items.back().offset == segment_.text.size();
    segment_.items.push_back({type, std::string(source), segment_.text.size(), placeholder, space});
    MarkupItem& item = segment_.items.back();
    const int index = to_int(segment_.items.size()) - 1;
    if (type == ItemType::open && id >= 0) opened_[id] = index;
    if (type != ItemType::close) return;
    const auto open = opened_.find(id);
    if (open == opened_.end()) return;
    item.partner = open->second;
    at(segment_.items, open->second).partner = index;
    opened_.erase(open);
  }

  /// Ends the segment.
  void cut() {
    if (has_words(segment_.text)) {
      tidy();
      segment_.before = std::exchange(before_, {});
      result_.segments.push_back(std::move(segment_));
    } else {
      before_ += raw_;
    }
    raw_.clear();
    opened_.clear();
    first_unsettled_ = 0;
    segment_ = {};
    segment_.html = html_;
  }

  /// Ends the segment before something that is copied unchanged.
  void cut(std::string_view source) {
    cut();
    before_ += source;
  }

  void count_tag() { ++result_.counts.tags; }
  void note_entity(const std::string& character, std::string_view source) {
    if (has_words(character) && character.size() == 1)
      return;  // a single letter remains a single letter
    segment_.entities.emplace(character, source);
  }
  void note_bare_ampersand() { segment_.bare_ampersand = true; }

  MarkedText finish() {
    cut();
    result_.tail = std::move(before_);
    return std::move(result_);
  }

 private:
  /// True for whitespace that cannot be replaced by a space: in HTML a line break or "&nbsp;".
  bool is_special(const std::string& space) const {
    return html_ ? space.find_first_not_of(" \t") != space.npos : space != " ";
  }

  /// Decides what remains in the text of the whitespace and markup since the last text, now that
  /// `next` follows.
  void settle_spaces(std::string_view next) {
    const std::size_t first = std::exchange(first_unsettled_, segment_.items.size());
    if (segment_.text.empty() || first == segment_.items.size()) {
      first_unsettled_ = segment_.items.size();
      return;
    }
    bool placeholder = false, space = false;
    MarkupItem* special = nullptr;  // whitespace other than a plain space
    for (std::size_t i = first; i < segment_.items.size(); ++i) {
      MarkupItem& item = segment_.items[i];
      placeholder = placeholder || item.placeholder;
      if (item.type != ItemType::space) continue;
      space = true;
      if (special == nullptr && is_special(item.bytes)) special = &item;
    }
    for (std::size_t i = first; i < segment_.items.size(); ++i) {
      MarkupItem& item = segment_.items[i];
      if (item.type == ItemType::space && &item != special) item.bytes.clear();
    }
    const bool closes = std::string_view(".,;:!?)").find(next.front()) != std::string_view::npos;
    // "Hello {name}, …" is translated as "Hello, …".
    if (space && placeholder && closes) space = false;
    if (!space && placeholder && !closes) {
      space = has_words(last_character(segment_.text)) &&
              has_words(next.substr(0, decode_code_point(next).length));
    }
    if (!space) return;
    segment_.text += ' ';
    bool behind = false;  // true after the space
    for (std::size_t i = first; i < segment_.items.size(); ++i) {
      MarkupItem& item = segment_.items[i];
      if (item.type == ItemType::space) {
        behind = behind || special == nullptr || &item == special;
      } else if (behind) {
        item.offset = segment_.text.size();
      }
    }
  }

  /// Removes the whitespace items that the text already contains.
  void tidy() {
    std::vector<int> moved(segment_.items.size(), kNoPartner);
    std::vector<MarkupItem> kept;
    for (std::size_t i = 0; i < segment_.items.size(); ++i) {
      if (segment_.items[i].bytes.empty()) continue;
      moved[i] = to_int(kept.size());
      kept.push_back(std::move(segment_.items[i]));
    }
    for (MarkupItem& item : kept) {
      if (item.partner >= 0) item.partner = at(moved, item.partner);
      // Whitespace at the ends is copied, like a tag there.
      const bool edge = item.offset == 0 || item.offset == segment_.text.size();
      if (item.type == ItemType::space && edge) item.type = ItemType::point;
    }
    segment_.items = std::move(kept);
  }

  bool html_;
  MarkedText result_;
  MarkedSegment segment_;
  std::string before_;               ///< copied before the segment
  std::string raw_;                  ///< the segment's source
  std::map<int, int> opened_;        ///< items of open elements, by their ids
  std::size_t first_unsettled_ = 0;  ///< the first item after the last text
};

/// Adds a text between markup, split into words and whitespace.
template <typename AddWord>
void add_words(SegmentBuilder& builder, std::string_view text, bool cut_at_blank_lines,
               AddWord&& add_word) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (const std::size_t space = whitespace_length(text.substr(end))) end += space;
    if (end > at) {
      const std::string_view spaces = text.substr(at, end - at);
      if (cut_at_blank_lines && std::ranges::count(spaces, '\n') > 1)
        builder.cut(spaces);
      else
        builder.add_space(spaces);
    }
    at = end;
    while (end < text.size() && whitespace_length(text.substr(end)) == 0) ++end;
    if (end > at) add_word(text.substr(at, end - at));
    at = end;
  }
}

/// Adds characters of HTML, with entities decoded.
void add_html_word(SegmentBuilder& builder, std::string_view word) {
  static constexpr std::string_view kSpace = "\u00a0";
  const auto joins = [](const std::string& character) {
    return character == "\u00ad" || character == "\u200c" || character == "\u200d" ||
           character == "\u200b";
  };
  std::size_t text = 0;  // start of the text that has not been added yet
  for (std::size_t at = word.find('&'); at != word.npos; at = word.find('&', at)) {
    std::size_t length = 0;
    const std::string character = decode_entity(word.substr(at), length);
    if (length == 0) {
      builder.note_bare_ampersand();
      ++at;
      continue;
    }
    const std::string_view entity = word.substr(at, length);
    if (at > text) builder.add_text(word.substr(text, at - text), word.substr(text, at - text));
    if (character.empty()) {
      builder.add_item(ItemType::point, entity, true);
    } else if (joins(character)) {
      builder.add_item(ItemType::point, entity, false);
    } else if (character == kSpace || whitespace_length(character) > 0) {
      builder.add_space(entity);
    } else {
      builder.note_entity(character, entity);
      builder.add_text(character, entity);
    }
    text = at = at + length;
  }
  if (text < word.size()) builder.add_text(word.substr(text), word.substr(text));
}

void add_html_text(SegmentBuilder& builder, std::string_view text, const SpanFinder& keep) {
  const auto add = [&](std::string_view part) {
    add_words(builder, part, true, [&](std::string_view word) { add_html_word(builder, word); });
  };
  std::size_t at = 0;
  for (const MarkupSpan& span : find_placeholders(text, false, keep)) {
    add(text.substr(at, span.begin - at));
    builder.add_item(ItemType::point, text.substr(span.begin, span.end - span.begin), true);
    at = span.end;
  }
  add(text.substr(at));
}

/// Returns for each start and end tag the number of its element, and −1 for a tag without a
/// partner. An end tag belongs to the last open start tag of its name; open elements that began
/// after that have no end.
std::vector<int> element_numbers(const std::vector<HtmlToken>& tokens) {
  std::vector<int> numbers(tokens.size(), kNoPartner);
  std::vector<std::size_t> open;
  std::map<std::string_view, std::size_t> waiting;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].type == HtmlTokenType::open) {
      open.push_back(i);
      ++waiting[tokens[i].name];
    } else if (tokens[i].type == HtmlTokenType::close) {
      const auto found = waiting.find(tokens[i].name);
      if (found == waiting.end() || found->second == 0) continue;
      while (tokens[open.back()].name != tokens[i].name) {
        --waiting[tokens[open.back()].name];
        open.pop_back();
      }
      numbers[i] = numbers[open.back()] = to_int(open.back());
      --found->second;
      open.pop_back();
    }
  }
  return numbers;
}

/// Adds a line of plain text.
void add_line(SegmentBuilder& builder, std::string_view line, const SpanFinder& keep, int& id) {
  const std::vector<MarkupSpan> spans = find_placeholders(line, true, keep);
  const auto add = [&](std::string_view part) {
    // Whitespace inside is kept; whitespace at the ends belongs to the adjacent markup.
    std::size_t begin = 0, end = part.size();
    while (const std::size_t space = whitespace_length(part.substr(begin))) begin += space;
    while (end > begin && is_ascii_space(part[end - 1])) --end;
    if (begin > 0) builder.add_space(part.substr(0, begin));
    if (end > begin) {
      builder.add_text(part.substr(begin, end - begin), part.substr(begin, end - begin));
    }
    if (end < part.size()) builder.add_space(part.substr(end));
  };
  std::size_t at = 0;
  std::vector<int> open;
  for (const MarkupSpan& span : spans) {
    if (span.begin > at) add(line.substr(at, span.begin - at));
    const std::string_view bytes = line.substr(span.begin, span.end - span.begin);
    if (span.type == SpanType::point && ascii_lower(bytes.substr(0, 3)) == "<br") {
      builder.count_tag();
      builder.cut(bytes);
    } else if (span.type == SpanType::placeholder || span.type == SpanType::point) {
      builder.add_item(ItemType::point, bytes, span.type == SpanType::placeholder);
    } else if (span.type == SpanType::open) {
      open.push_back(id++);
      builder.add_item(ItemType::open, bytes, false, open.back());
    } else {
      builder.add_item(ItemType::close, bytes, false, open.back());
      open.pop_back();
    }
    at = span.end;
  }
  if (at < line.size()) add(line.substr(at));
}

}  // namespace

bool has_words(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = decode_code_point(text);
    if (c.valid && u_isalnum(static_cast<UChar32>(c.value)) != 0) return true;
    text.remove_prefix(c.length);
  }
  return false;
}

bool MarkedSegment::items_are_outside() const {
  return std::ranges::all_of(items, [&](const MarkupItem& item) {
    return item.offset == 0 || item.offset == text.size();
  });
}

MarkedText read_html(std::string_view html, const SpanFinder& keep) {
  const std::vector<HtmlToken> tokens = tokenize_html(html);
  const std::vector<int> numbers = element_numbers(tokens);
  SegmentBuilder builder(true);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const HtmlToken& token = tokens[i];
    switch (token.type) {
      case HtmlTokenType::text:
        add_html_text(builder, token.bytes, keep);
        break;
      case HtmlTokenType::open:
        builder.add_item(ItemType::open, token.bytes, false, numbers[i]);
        break;
      case HtmlTokenType::close:
        // An end tag without a start tag contains no text, so it is treated as a point.
        builder.add_item(numbers[i] < 0 ? ItemType::point : ItemType::close, token.bytes, false,
                         numbers[i]);
        break;
      case HtmlTokenType::point:
        builder.add_item(ItemType::point, token.bytes, token.untranslated);
        break;
      case HtmlTokenType::cut:
        builder.count_tag();
        builder.cut(token.bytes);
        break;
    }
  }
  return builder.finish();
}

MarkedText read_plain_text(std::string_view text, const SpanFinder& keep) {
  SegmentBuilder builder(false);
  int id = 0;
  const std::vector<LayoutLine> lines = split_text(text);
  const std::vector<bool> fenced = fenced_lines(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LayoutLine& line = lines[i];
    builder.cut(line.before);
    const std::size_t mark = fenced[i] ? line.content.size() : block_mark_length(line.content);
    builder.cut(line.content.substr(0, mark));
    add_line(builder, line.content.substr(mark), keep, id);
    builder.cut(line.after);
  }
  return builder.finish();
}

bool is_one_plain_line(std::string_view text) {
  if (text.find_first_of("\n\v\f\r") != text.npos || may_have_placeholders(text)) return false;
  if (text.empty() || whitespace_length(text) + block_mark_length(text) > 0 ||
      is_ascii_space(text.back()))
    return false;
  return text.find(kNextLine) == text.npos && text.find("\u2028") == text.npos &&
         text.find("\u2029") == text.npos;
}

CleanedMarkup clean_markup(std::string_view bytes) {
  CleanedMarkup cleaned;
  std::size_t at = 0;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    const std::string_view rest = bytes.substr(std::min(i, bytes.size()));
    const std::size_t kept = rest.empty()                  ? 0
                             : is_ascii_space(rest[0])     ? 1
                             : rest.starts_with(kNextLine) ? kNextLine.size()
                                                           : 0;
    if (kept == 0 && i < bytes.size()) continue;
    CleanedText part = clean_text(bytes.substr(at, i - at));
    cleaned.text += part.text;
    cleaned.invalid_bytes += part.invalid_bytes;
    cleaned.controls += part.controls;
    cleaned.text += rest.substr(0, kept);
    if (kept == 0) break;
    at = i + kept;
    i = at - 1;
  }
  return cleaned;
}

}  // namespace attn
