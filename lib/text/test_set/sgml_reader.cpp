#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/test_set/markup_readers.h"

namespace attn {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == ':' || c == '.';
}

/// The character of "#65", "#x41", "amp" and the like; nothing for anything else.
std::optional<char32_t> named_character(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char32_t>, 5> kNames{
      {{"amp", U'&'}, {"lt", U'<'}, {"gt", U'>'}, {"quot", U'"'}, {"apos", U'\''}}};
  for (const auto& [known, character] : kNames) {
    if (name == known) return character;
  }
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
  if (hexadecimal) name.remove_prefix(1);
  std::uint32_t value = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, value, hexadecimal ? 16 : 10);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (error != std::errc{} || stop != end || value == 0 || value > 0x10FFFF || surrogate) {
    return std::nullopt;
  }
  return value;
}

/// Replaces the entities that every SGML and XML document has. Other uses of & stay as they are.
std::string decode_entities(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  std::string out;
  while (true) {
    const std::size_t start = std::min(text.find('&'), text.size());
    out += text.substr(0, start);
    text.remove_prefix(start);
    if (text.empty()) return out;
    const std::size_t end = text.substr(0, kLongest).find(';');
    const auto character =
        end == text.npos ? std::nullopt : named_character(text.substr(1, end - 1));
    if (character) {
      append_code_point(out, *character);
      text.remove_prefix(end + 1);
    } else {
      out += '&';
      text.remove_prefix(1);
    }
  }
}

class SgmlReader {
 public:
  SgmlReader(std::string_view bytes, TestSetBuilder& builder) : rest_(bytes), builder_(builder) {}

  void read() {
    bool ended = false;
    while (!rest_.empty()) {
      if (rest_.front() != '<') {
        read_text(rest_.substr(0, std::min(rest_.find('<'), rest_.size())));
      } else if (rest_.starts_with("<!--")) {
        take(through("-->", "a comment"));
      } else if (rest_.starts_with("<!")) {
        read_declaration();
      } else if (rest_.starts_with("</")) {
        read_end_tag();
        ended = open_.empty();
      } else {
        if (ended) fail("found an element after the end of the root element");
        read_start_tag();
      }
    }
    if (!open_.empty())
      fail("the file ends inside of <" + excerpt(open_.back()) + ">; it may be cut off");
    if (!ended) fail("found no element");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { builder_.fail(line_, what); }

  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    line_ += static_cast<std::size_t>(std::count(taken.begin(), taken.end(), '\n'));
    rest_.remove_prefix(size);
    return taken;
  }

  /// Returns the number of bytes up to and including `end`.
  std::size_t through(std::string_view end, const char* of) const {
    const std::size_t found = rest_.find(end);
    if (found == rest_.npos) fail(fmt::format("found no {} that ends {}", end, of));
    return found + end.size();
  }

  void read_text(std::string_view text) {
    if (open_.empty()) {
      if (std::all_of(text.begin(), text.end(), is_space)) {
        take(text.size());
        return;
      }
      fail("found text outside of all elements");
    }
    builder_.text(text, line_);
    take(text.size());
  }

  void read_declaration() {
    const std::string_view text = rest_.substr(0, through(">", "a declaration"));
    if (text.find('[') != text.npos) fail("declares a document type inside of the document");
    take(text.size());
  }

  std::string read_name() {
    std::size_t size = 0;
    while (size < rest_.size() && is_name_char(rest_[size])) ++size;
    if (size == 0) fail("found < without the name of an element");
    return ascii_lower(take(size));
  }

  void skip_spaces() {
    std::size_t size = 0;
    while (size < rest_.size() && is_space(rest_[size])) ++size;
    take(size);
  }

  std::string read_value() {
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote == '"' || quote == '\'') {
      take(1);
      const std::size_t end = rest_.find_first_of(quote == '"' ? "\"<>" : "'<>");
      if (end == rest_.npos || rest_[end] != quote)
        fail("an attribute's quotation mark is missing");
      std::string value = decode_entities(take(end));
      take(1);
      return value;
    }
    std::size_t size = 0;
    while (size < rest_.size() && !is_space(rest_[size]) && rest_[size] != '>' &&
           rest_[size] != '<') {
      ++size;
    }
    if (size == 0) fail("found an attribute without a value");
    return decode_entities(take(size));
  }

  void read_start_tag() {
    take(1);
    const std::string name = read_name();
    MarkupAttributes attributes;
    for (skip_spaces(); !rest_.starts_with('>'); skip_spaces()) {
      if (rest_.empty()) fail("<" + excerpt(name) + " does not end");
      const std::string attribute = read_name();
      skip_spaces();
      if (!rest_.starts_with('=')) fail("found an attribute without a value");
      take(1);
      skip_spaces();
      attributes[attribute] = read_value();
    }
    take(1);
    builder_.start(name, attributes, line_);
    open_.push_back(name);
    if (name == "seg") read_segment();
  }

  /// Reads up to </seg>. A segment without an end would swallow the next one, so the elements that
  /// surround segments are not text.
  void read_segment() {
    std::size_t end = 0;
    for (end = rest_.find('<'); end != rest_.npos; end = rest_.find('<', end + 1)) {
      const std::string next = ascii_lower(rest_.substr(end, 9));
      if (starts_tag(next, "</seg")) break;
      for (const std::string_view other :
           {"<seg", "<doc", "</doc", "</srcset", "</refset", "</tstset"}) {
        if (starts_tag(next, other)) fail("<seg> has no end, </seg>, before " + next.substr(0, 5));
      }
    }
    if (end == rest_.npos) fail("<seg> has no end, </seg>; the file may be cut off");
    const std::string_view text = rest_.substr(0, end);
    builder_.text(decode_entities(text), line_);
    take(end);
  }

  static bool starts_tag(std::string_view text, std::string_view tag) {
    return text.starts_with(tag) && (text.size() == tag.size() || !is_name_char(text[tag.size()]));
  }

  void read_end_tag() {
    take(2);
    const std::string name = read_name();
    skip_spaces();
    if (!rest_.starts_with('>')) fail("</" + excerpt(name) + " does not end");
    if (open_.empty() || open_.back() != name) {
      fail(open_.empty()
               ? "found </" + excerpt(name) + ">, and no element is open"
               : "found </" + excerpt(name) + ">, expected </" + excerpt(open_.back()) + ">");
    }
    take(1);
    open_.pop_back();
    builder_.end(line_);
  }

  std::string_view rest_;
  TestSetBuilder& builder_;
  std::vector<std::string> open_;
  std::size_t line_ = 1;
};

}  // namespace

void read_sgml(std::string_view bytes, TestSetBuilder& builder) {
  SgmlReader(bytes, builder).read();
}

}  // namespace attn
