#include "markup/template_marks.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string>

#include "base/strings/utf8.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

constexpr std::size_t kLongestName = 64;

/// True for ASCII characters of identifiers.
bool is_name(char c) {
  return is_ascii_letter(c) || is_digit(c) || c == '_';
}

class MarkReader {
 public:
  MarkReader(std::string_view text, std::size_t begin) : text_(text), begin_(begin) {}

  std::size_t end() const {
    switch (text_[begin_]) {
      case '<':
        return first({closed("<%", "%>"), closed("<?", "?>"), named("<<", ">>", " .-")});
      case '[':
        return first({closed("[%", "%]"), named("[[", "]]", " .-"), bracketed_name()});
      case '*':
        return named("*|", "|*", ":. -");
      case '%':
        return first({named("%%", "%%", ".-"), after_word() ? begin_ : named("%", "%", ".-")});
      case '$':
        return after_word() ? begin_
                            : first({closed("$((", "))"), named("$(", ")", ".-"), dollar_name()});
      case '#':
        return after_word() ? begin_
                            : first({named("##", "##", ".-"), named("#", "#", ""), tag_name(".")});
      case '@':
        return after_word() ? begin_ : first({named("@@", "@@", ".-"), tag_name(".-")});
      case ':':
        return colon_name();
      default:
        return address();
    }
  }

 private:
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : ' '; }

  std::size_t first(std::initializer_list<std::size_t> ends) const {
    const auto* const found =
        std::ranges::find_if(ends, [this](std::size_t end) { return end > begin_; });
    return found == ends.end() ? begin_ : *found;
  }

  /// True inside or at the end of a word.
  bool after_word() const {
    return begin_ > 0 && (is_name(text_[begin_ - 1]) || byte_value(text_[begin_ - 1]) >= 0x80 ||
                          text_[begin_ - 1] == '&');
  }

  /// Returns the end of what is between two strings, on one line.
  std::size_t closed(std::string_view open, std::string_view close) const {
    if (!text_.substr(begin_).starts_with(open)) return begin_;
    constexpr std::size_t kLongest = 1024;
    const std::string_view inner = text_.substr(begin_ + open.size(), kLongest);
    const std::size_t found = inner.find(close);
    return found == inner.npos ? begin_ : begin_ + open.size() + found + close.size();
  }

  /// Returns the end of a name between two strings; `more` are characters inside the name.
  std::size_t named(std::string_view open, std::string_view close, std::string_view more) const {
    if (!text_.substr(begin_).starts_with(open)) return begin_;
    std::size_t i = begin_ + open.size();
    const std::size_t name = i;
    if (!is_ascii_letter(at(i)) && at(i) != '_') return begin_;
    while (i - name < kLongestName &&
           (is_name(at(i)) || (i < text_.size() && is_any_of(at(i), more))))
      ++i;
    if (i - name < 2 || is_any_of(text_[i - 1], more)) return begin_;
    if (!text_.substr(i).starts_with(close)) return begin_;
    i += close.size();
    if (open == "[[" && at(i) == '(') return begin_;  // a link
    return open.size() == 1 && is_name(at(i)) ? begin_ : i;
  }

  /// [first_name]: unlike other words in brackets, it has an underscore.
  std::size_t bracketed_name() const {
    const std::size_t end = named("[", "]", "");
    return text_.substr(begin_, end - begin_).find('_') == text_.npos ? begin_ : end;
  }

  std::size_t name_end(std::size_t i, std::string_view inner) const {
    const std::size_t most = i + kLongestName;
    while (i < most && (is_name(at(i)) || (is_any_of(at(i), inner) && is_name(at(i + 1))))) ++i;
    return i;
  }

  /// $name, $user.name, $NAME$; not $5.
  std::size_t dollar_name() const {
    if (!is_ascii_letter(at(begin_ + 1)) && at(begin_ + 1) != '_') return begin_;
    const std::size_t end = name_end(begin_ + 1, ".");
    return at(end) == '$' ? end + 1 : end;
  }

  /// @name and #topic.
  std::size_t tag_name(std::string_view inner) const {
    if (!is_ascii_letter(at(begin_ + 1)) && at(begin_ + 1) != '_') return begin_;
    const std::size_t end = name_end(begin_ + 1, inner);
    return end - begin_ > 2 ? end : begin_;
  }

  /// :name after a space, and :name:.
  std::size_t colon_name() const {
    const char before = begin_ > 0 ? text_[begin_ - 1] : ' ';
    const char letter = at(begin_ + 1);
    if (!is_ascii_space(before) && !is_any_of(before, "(\"'")) return begin_;
    if (letter < 'a' || letter > 'z') return begin_;
    const std::size_t end = name_end(begin_ + 1, "");
    if (end - begin_ < 3) return begin_;
    return at(end) == ':' ? end + 1 : end;
  }

  /// An address of the web or of mail, where a word begins.
  std::size_t address() const {
    if (after_word() || !is_name(text_[begin_])) return begin_;
    const std::string_view rest = text_.substr(begin_);
    for (const std::string_view scheme : {"https://", "http://", "ftp://", "www."}) {
      if (ascii_lower(rest.substr(0, scheme.size())) == scheme) {
        return address_end(begin_ + scheme.size());
      }
    }
    return mail_end();
  }

  std::size_t address_end(std::size_t i) const {
    const std::size_t host = i;
    int depth = 0;
    std::size_t end = i;  // behind the last character that an address may end with
    for (; i < text_.size() && !is_ascii_space(text_[i]) && !is_any_of(text_[i], "<>\"{}`|"); ++i) {
      if (whitespace_length(text_.substr(i)) > 0) break;
      if (text_[i] == '(') ++depth;
      if (text_[i] == ')' && --depth < 0) break;
      if (!is_any_of(text_[i], ".,;:!?'*_~[]")) end = i + 1;
    }
    return end > host ? end : begin_;
  }

  std::size_t mail_end() const {
    std::size_t i = begin_;
    while (i - begin_ < kLongestName && (is_name(at(i)) || is_any_of(at(i), ".%+-"))) ++i;
    if (at(i) != '@' || i == begin_) return begin_;
    const std::size_t host = ++i;
    std::size_t dot = host;
    for (; i - host < kLongestName && (is_name(at(i)) || is_any_of(at(i), ".-")); ++i) {
      if (at(i) == '.' && is_ascii_letter(at(i + 1)) && is_ascii_letter(at(i + 2))) dot = i;
    }
    if (dot == host) return begin_;
    while (!is_name(text_[i - 1])) --i;
    return i;
  }

  std::string_view text_;
  std::size_t begin_;
};

}  // namespace

std::size_t template_mark_end(std::string_view text, std::size_t begin) {
  return MarkReader(text, begin).end();
}

namespace {

/// True for names of tokens that models read: T5's <extra_id_0>, MADLAD's <2de>, <mask>.
bool is_model_token(std::string_view name) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"bos", "cls", "eos", "mask", "pad", "sep", "unk"});
  const bool language = name.size() > 2 && name.front() == '2' && is_ascii_letter(name[1]);
  return language || name.starts_with("extra_id_") ||
         std::ranges::find(kNames, name) != kNames.end();
}

PlainTag read_plain_tag(std::string_view text, std::size_t begin) {
  // Elements that may stand alone, or whose other end is in another line.
  static constexpr auto kElements = std::to_array<std::string_view>(
      {"a",  "b", "br", "code",  "div",  "em",     "font", "hr",  "i", "img", "input",
       "li", "p", "s",  "small", "span", "strong", "sub",  "sup", "u", "wbr"});
  constexpr std::size_t kLongestTag = 1024;
  text = text.substr(0, begin + kLongestTag);
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  PlainTag tag;
  tag.begin = begin;
  std::size_t i = begin + 1;
  tag.closes = at(i) == '/';
  if (tag.closes) ++i;
  const std::size_t name = i;
  while (i - name < kLongestName && (is_name(at(i)) || (i > name && is_any_of(at(i), ":.-")))) ++i;
  tag.name = text.substr(name, i - name);
  if (tag.name.empty() || is_model_token(tag.name)) return {};
  bool attributes = false;
  while (!tag.closes) {
    std::size_t next = i;
    while (next < text.size() && is_ascii_space(text[next])) ++next;
    if (next == i || !is_ascii_letter(at(next))) break;
    while (is_name(at(next)) || is_any_of(at(next), ":-")) ++next;
    if (at(next) != '=') return {};
    const char quote = at(++next);
    if (quote == '"' || quote == '\'') {
      next = text.find(quote, next + 1);
      if (next == text.npos) return {};
      ++next;
    } else {
      while (next < text.size() && !is_ascii_space(text[next]) && !is_any_of(text[next], "<>\"'"))
        ++next;
    }
    attributes = true;
    i = next;
  }
  while (i < text.size() && is_ascii_space(text[i])) ++i;
  const bool closed = !tag.closes && at(i) == '/';
  if (closed) ++i;
  if (at(i) != '>') return {};
  tag.end = i + 1;
  tag.alone = closed;
  tag.value = !attributes && !tag.closes &&
              std::ranges::find(kElements, ascii_lower(tag.name)) == kElements.end();
  return tag;
}

}  // namespace

std::vector<PlainTag> find_plain_tags(std::string_view text) {
  std::vector<PlainTag> tags;
  std::vector<std::size_t> open;
  std::map<std::string_view, std::size_t> waiting;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at)) {
    PlainTag tag = read_plain_tag(text, at);
    if (tag.end == 0) {
      ++at;
      continue;
    }
    at = tag.end;
    const auto number = static_cast<int>(tags.size());
    std::size_t& same = waiting[tag.name];
    if (tag.closes && same > 0) {
      while (tags[open.back()].name != tag.name) {
        --waiting[tags[open.back()].name];
        open.pop_back();
      }
      --same;
      tag.partner = static_cast<int>(open.back());
      tags[open.back()].partner = number;
      open.pop_back();
    } else if (!tag.closes && !tag.alone) {
      ++same;
      open.push_back(tags.size());
    }
    tags.push_back(tag);
  }
  // "<s>" and "</s>" alone are the start and the end of a text for many models.
  if (std::ranges::none_of(tags, [](const PlainTag& tag) { return tag.partner >= 0; })) {
    std::erase_if(tags, [](const PlainTag& tag) { return tag.name == "s"; });
  }
  return tags;
}

}  // namespace attn
