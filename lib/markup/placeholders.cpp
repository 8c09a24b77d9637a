#include "markup/placeholders.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "markup/template_marks.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

/// True for characters of identifiers, and for all non-ASCII bytes.
bool is_word(char c) {
  return is_ascii_letter(c) || is_digit(c) || c == '_' || byte_value(c) >= 0x80;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kDelimiters = 128 * 4;  // ids of delimiters, by character and length

/// Returns for each opening bracket the position of its closing bracket, and kNone elsewhere.
std::vector<std::size_t> matching_brackets(std::string_view text, char open, char close) {
  std::vector<std::size_t> partner(text.size(), kNone);
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) waiting.push_back(i);
    if (text[i] != close || waiting.empty()) continue;
    partner[waiting.back()] = i;
    waiting.pop_back();
  }
  return partner;
}

class PlaceholderFinder {
 public:
  PlaceholderFinder(std::string_view text, bool markdown)
      : text_(text), markdown_(markdown), braces_(matching_brackets(text, '{', '}')) {
    if (markdown) {
      squares_ = matching_brackets(text, '[', ']');
      rounds_ = matching_brackets(text, '(', ')');
      tags_ = find_plain_tags(text);
    }
  }

  std::vector<MarkupSpan> find(const std::vector<MarkupSpan>& given) {
    auto next = given.begin();
    for (std::size_t at = 0; at < text_.size();) {
      if (next != given.end() && at >= next->begin) {
        found_.push_back(*next);
        at = std::max(at + 1, next++->end);
        continue;
      }
      const std::size_t most = next == given.end() ? text_.size() : next->begin;
      const std::size_t end = read(at);
      if (end > at && end <= most) {
        at = end;
      } else {
        drop_from(at);
        ++at;
      }
    }
    return pair_up();
  }

 private:
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : ' '; }

  /// Removes the spans found from a position on, because a match of the caller's patterns begins
  /// inside them.
  void drop_from(std::size_t position) {
    while (!found_.empty() && found_.back().begin >= position) found_.pop_back();
    while (!delimiters_.empty() && delimiters_.back().span >= found_.size()) delimiters_.pop_back();
  }

  /// Adds the span that begins at a position, if there is one, and returns its end; otherwise
  /// returns the position.
  std::size_t read(std::size_t begin) {
    const char c = text_[begin];
    std::size_t end = begin;
    if (c == '{') {
      end = brace_end(begin);
    } else if (is_any_of(c, "$#@%") && at(begin + 1) == '{') {
      end = closed(begin + 1);
      if (end == begin + 1) end = begin;
    } else {
      end = template_mark_end(text_, begin);
    }
    if (end == begin && c == '%') end = percent_end(begin);
    if (end == begin && markdown_) return read_markdown(begin);
    if (end > begin) found_.push_back({begin, end, SpanType::placeholder});
    return end;
  }

  /// Returns the end of the balanced braces that begin here; the position if there are none.
  std::size_t closed(std::size_t begin) const {
    return braces_[begin] == kNone ? begin : braces_[begin] + 1;
  }

  /// Returns the end of a placeholder in braces: {{…}}, {%…%} and {#…#} with any content, and {…}
  /// with a name, a number or nothing, or with a format specification after it.
  std::size_t brace_end(std::size_t begin) const {
    const std::size_t end = closed(begin);
    if (end == begin || is_any_of(at(begin + 1), "{%#")) return end;
    std::size_t i = begin + 1;
    while (is_ascii_space(at(i)) && i < end) ++i;
    const std::size_t name = i;
    if (at(i) == '$' || at(i) == '@') ++i;
    while (is_word(at(i)) || is_any_of(at(i), ".-/")) ++i;
    const bool named = i > name;
    while (is_ascii_space(at(i)) && i < end) ++i;
    if (at(i) == '}') return end;
    return is_any_of(at(i), named ? ",:|!([" : ":!") ? end : begin;
  }

  /// Returns the end of a placeholder of printf, Python, Qt or Windows.
  std::size_t percent_end(std::size_t begin) const {
    constexpr std::size_t kLongestName = 64;
    const bool inside =
        begin > 0 && is_word(text_[begin - 1]) && (found_.empty() || found_.back().end != begin);
    std::size_t number_end = begin;
    while (number_end > 0 && text_[number_end - 1] == ' ') --number_end;
    const bool after_number = number_end > 0 && is_digit(text_[number_end - 1]) &&
                              (found_.empty() || found_.back().end != number_end);
    std::size_t i = begin + 1;
    bool bracketed = false;  // a name in angle brackets, which may be a tag
    if (at(i) == '%') return i + 1;
    if (at(i) == '(') {
      const std::string_view name = text_.substr(i + 1, kLongestName);
      const std::size_t length = name.find(')');
      if (length == name.npos || length == 0) return begin;
      i += length + 2;
    } else if (at(i) == '<') {  // Ruby's %<name>s
      const std::size_t name = ++i;
      while (i - name < kLongestName && is_word(at(i))) ++i;
      if (i == name || at(i++) != '>') return begin;
      bracketed = true;
    } else if (!inside && (is_ascii_letter(at(i)) || at(i) == '_')) {
      std::size_t end = i;
      while (end - i < kLongestName && is_word(at(end))) ++end;
      if (at(end) == '%' && end > i + 1 && !is_word(at(end + 1))) return end + 1;
    }
    const std::size_t number = i;
    while (is_digit(at(i))) ++i;
    const bool counted = i > number;
    if (counted && at(i) == '$') ++i;
    while (is_any_of(at(i), "-+0#'")) ++i;
    while (is_digit(at(i)) || at(i) == '*') ++i;
    if (at(i) == '.') {
      const std::size_t dot = i++;
      while (is_digit(at(i)) || at(i) == '*') ++i;
      if (!is_ascii_letter(at(i))) i = dot;
    }
    const std::size_t size = i;
    while (i < size + 2 && is_any_of(at(i), "hlqjztL")) ++i;
    // "100 %discount" and "%<b>discount" contain none.
    const bool ends = !(after_number || bracketed) || !is_word(at(i + 1));
    if (is_any_of(at(i), "diouxXeEfFgGaAcCsSpnr@") && ends) return i + 1;
    // Qt's %1, unlike "100 %" and "5%".
    return counted && !inside && i - number <= 2 && !is_word(at(i)) ? i : begin;
  }

  // Markdown.

  std::size_t read_markdown(std::size_t begin) {
    switch (text_[begin]) {
      case '`':
        return read_code(begin);
      case '<':
        return std::max(read_address(begin), read_tag(begin));
      case '!':
        return read_picture(begin);
      case '[':
        return read_link(begin);
      case ']':
        return read_link_end(begin);
      case '*':
      case '_':
      case '~':
        return read_delimiter(begin);
      default:
        return begin;
    }
  }

  std::size_t add(std::size_t begin, std::size_t end, SpanType type) {
    found_.push_back({begin, end, type});
    return end;
  }

  std::size_t read_code(std::size_t begin) {
    std::size_t run = begin;
    while (at(run) == '`') ++run;
    const std::size_t length = run - begin;
    constexpr std::size_t kLongestRun = 8;
    if (length > kLongestRun || no_code_[length - 1]) return run;
    for (std::size_t i = text_.find('`', run); i != text_.npos; i = text_.find('`', i)) {
      const std::size_t close = i;
      while (at(i) == '`') ++i;
      if (i - close == length) return add(begin, i, SpanType::placeholder);
    }
    no_code_[length - 1] = true;
    return run;
  }

  std::size_t read_address(std::size_t begin) {
    const std::string_view rest = text_.substr(begin + 1);
    const bool address =
        rest.starts_with("http://") || rest.starts_with("https://") || rest.starts_with("mailto:");
    if (!address) return begin;
    std::size_t i = begin + 1;
    while (i < text_.size() && text_[i] != '>' && text_[i] != '<' && !is_ascii_space(text_[i])) ++i;
    return at(i) == '>' ? add(begin, i + 1, SpanType::placeholder) : begin;
  }

  /// Returns the tag that begins here, or none.
  const PlainTag* tag_at(std::size_t begin) const {
    const auto tag = std::ranges::lower_bound(tags_, begin, {}, &PlainTag::begin);
    return tag == tags_.end() || tag->begin != begin ? nullptr : &*tag;
  }

  std::size_t read_tag(std::size_t begin) {
    const PlainTag* const tag = tag_at(begin);
    if (tag == nullptr) return begin;
    if (tag->partner < 0) return add(begin, tag->end, lone_type(*tag));
    return add(begin, tag->end, tag->closes ? SpanType::close : SpanType::open);
  }

  static SpanType lone_type(const PlainTag& tag) {
    return tag.value ? SpanType::placeholder : SpanType::point;
  }

  /// Returns the end of "(…)" or "[…]" after the bracket of a link's text; `close` if there is
  /// neither.
  std::size_t target_end(std::size_t close) const {
    const std::size_t begin = close + 1;
    if (at(begin) == '(' && rounds_[begin] != kNone) return rounds_[begin] + 1;
    if (at(begin) == '[' && squares_[begin] != kNone) return squares_[begin] + 1;
    return close;
  }

  std::size_t read_picture(std::size_t begin) {
    const std::size_t open = begin + 1;
    if (at(open) != '[' || squares_[open] == kNone) return begin;
    const std::size_t close = squares_[open];
    const std::size_t end = target_end(close);
    return end > close ? add(begin, end, SpanType::placeholder) : begin;
  }

  std::size_t read_link(std::size_t begin) {
    if (const std::size_t mark = footnote_mark_length(text_.substr(begin)); mark > 0) {
      return add(begin, begin + mark, SpanType::placeholder);
    }
    const std::size_t close = squares_[begin];
    if (close == kNone) return begin;
    if (target_end(close) > close) {
      link_ends_.push_back({close, target_end(close)});
      return add(begin, begin + 1, SpanType::open);
    }
    // A wiki's [[page|text]].
    const std::size_t inner = at(begin + 1) == '[' ? squares_[begin + 1] : kNone;
    if (inner == kNone || inner + 1 != close) return begin;
    const std::size_t bar = text_.substr(begin, inner - begin).find_first_of("|[]", 2);
    if (bar == text_.npos || at(begin + bar) != '|') return begin;
    link_ends_.push_back({inner, close + 1});
    return add(begin, begin + bar + 1, SpanType::open);
  }

  std::size_t read_link_end(std::size_t begin) {
    while (!link_ends_.empty() && link_ends_.back().first < begin) link_ends_.pop_back();
    if (link_ends_.empty() || link_ends_.back().first != begin) return begin;
    const std::size_t end = link_ends_.back().second;
    link_ends_.pop_back();
    return add(begin, end, SpanType::close);
  }

  /// Reads a run of emphasis delimiters. It opens if no space follows it, and closes if none
  /// precedes it; inside a word it does neither.
  std::size_t read_delimiter(std::size_t begin) {
    const char c = text_[begin];
    std::size_t end = begin;
    while (at(end) == c) ++end;
    const std::size_t length = end - begin;
    if (length > 3 || (c == '~' && length != 2)) return end;
    const char before = begin > 0 ? text_[begin - 1] : ' ';
    const bool opens = !is_ascii_space(at(end)) && !is_word(before);
    const bool closes = !is_ascii_space(before) && !is_word(at(end));
    if (!opens && !closes) return end;
    delimiters_.push_back({found_.size(), opens, closes});
    return add(begin, end, closes && !opens ? SpanType::close : SpanType::open);
  }

  struct Delimiter {
    std::size_t span = 0;  ///< index in found_
    bool opens = false;
    bool closes = false;
  };

  /// A span that opens or closes something.
  struct Bracket {
    std::size_t id = 0;  ///< the same for both ends of a pair
    bool opens = false;
    bool closes = false;
  };

  static std::size_t delimiter_id(std::string_view bytes) {
    return (byte_value(bytes.front()) & 0x7FU) * 4 + std::min<std::size_t>(bytes.size(), 3);
  }

  Bracket bracket(const MarkupSpan& span, const Delimiter* delimiter) const {
    const std::string_view bytes = text_.substr(span.begin, span.end - span.begin);
    if (delimiter != nullptr) return {delimiter_id(bytes), delimiter->opens, delimiter->closes};
    const bool closes = span.type == SpanType::close;
    const PlainTag* const tag = tag_at(span.begin);
    if (tag == nullptr) return {delimiter_id("["), !closes, closes};
    const int first = closes ? tag->partner : tags_[to_size(tag->partner)].partner;
    return {kDelimiters + to_size(first), !closes, closes};
  }

  /// Pairs delimiters, tags and the brackets of links so that pairs are nested. Those without a
  /// partner are text, except for tags.
  std::vector<MarkupSpan> pair_up() {
    struct Open {
      std::size_t span;
      std::size_t id;
    };
    std::vector<Open> open;
    std::vector<bool> paired(found_.size(), false);
    std::vector<std::size_t> waiting(kDelimiters + tags_.size());  // number of open ones, by id
    auto delimiter = delimiters_.begin();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      while (delimiter != delimiters_.end() && delimiter->span < i) ++delimiter;
      const bool is_delimiter = delimiter != delimiters_.end() && delimiter->span == i;
      if (found_[i].type == SpanType::placeholder || found_[i].type == SpanType::point) {
        paired[i] = true;
        continue;
      }
      const Bracket own = bracket(found_[i], is_delimiter ? &*delimiter : nullptr);
      if (own.closes && waiting[own.id] > 0 &&
          !(is_delimiter && is_empty_pair(open.back().span, i))) {
        while (open.back().id != own.id) {
          --waiting[open.back().id];
          open.pop_back();
        }
        paired[i] = paired[open.back().span] = true;
        found_[i].type = SpanType::close;
        --waiting[own.id];
        open.pop_back();
      } else if (own.opens) {
        open.push_back({i, own.id});
        found_[i].type = SpanType::open;
        ++waiting[own.id];
      }
    }
    std::vector<MarkupSpan> kept;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const PlainTag* const tag = paired[i] ? nullptr : tag_at(found_[i].begin);
      if (tag != nullptr) found_[i].type = lone_type(*tag);
      if (paired[i] || tag != nullptr) kept.push_back(found_[i]);
    }
    return kept;
  }

  /// True if there is nothing between an opening delimiter and the next one.
  bool is_empty_pair(std::size_t open, std::size_t close) const {
    return found_[open].end == found_[close].begin;
  }

  std::string_view text_;
  bool markdown_;
  std::vector<std::size_t> braces_, squares_, rounds_;
  std::vector<MarkupSpan> found_;
  std::vector<PlainTag> tags_;
  /// For each open link, the place of its "]" and the end of what follows it.
  std::vector<std::pair<std::size_t, std::size_t>> link_ends_;
  std::vector<Delimiter> delimiters_;
  std::array<bool, 8> no_code_{};  ///< true: no run of this many backticks follows
};

}  // namespace

bool may_have_placeholders(std::string_view text) {
  if (text.find_first_of("{%`[*_~<$#@") != text.npos) return true;
  return text.find(" :") != text.npos || text.starts_with(':') || text.find("://") != text.npos ||
         ascii_lower(text).find("www.") != text.npos;
}

std::vector<MarkupSpan> find_placeholders(std::string_view text, bool markdown,
                                          const SpanFinder& more) {
  const std::vector<MarkupSpan> given = more ? more(text) : std::vector<MarkupSpan>{};
  if (given.empty() && !may_have_placeholders(text)) return {};
  return PlaceholderFinder(text, markdown).find(given);
}

}  // namespace attn
