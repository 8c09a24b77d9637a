#include "markup/html_tokenizer.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/strings/utf8.h"
#include "markup/text_layout.h"

namespace attn {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Elements that the standard's style sheet shows as blocks, parts of tables, controls of forms,
/// and elements of the document itself. A sentence does not continue across their tags.
constexpr auto kBlocks = std::to_array<std::string_view>(
    {"address",   "article",  "aside",    "base",     "blockquote", "body",     "br",     "button",
     "caption",   "center",   "col",      "colgroup", "dd",         "details",  "dialog", "dir",
     "div",       "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer", "form",
     "frame",     "frameset", "h1",       "h2",       "h3",         "h4",       "h5",     "h6",
     "head",      "header",   "hgroup",   "hr",       "html",       "iframe",   "input",  "label",
     "legend",    "li",       "link",     "listing",  "main",       "menu",     "meta",   "nav",
     "noembed",   "noframes", "noscript", "ol",       "optgroup",   "option",   "p",      "param",
     "plaintext", "pre",      "script",   "search",   "section",    "select",   "source", "style",
     "summary",   "table",    "tbody",    "td",       "template",   "textarea", "tfoot",  "th",
     "thead",     "title",    "tr",       "ul"});
constexpr auto kVoid = std::to_array<std::string_view>(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
     "link", "meta", "param", "source", "track", "wbr"});
constexpr auto kUntranslated = std::to_array<std::string_view>(
    {"code", "kbd", "listing", "math", "noembed", "noframes", "plaintext", "pre", "samp", "script",
     "iframe", "style", "svg", "textarea", "var", "xmp", "object"});
/// Elements whose text contains no tags.
constexpr auto kRawText = std::to_array<std::string_view>(
    {"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"});

/// A start or end tag.
struct Tag {
  std::size_t end = 0;  ///< after ">"
  std::string name;
  bool untranslated = false;  ///< set by an attribute
};

/// Reads the value of an attribute after "=", and moves `at` past it; returns nothing at the end
/// of the source.
std::optional<std::string_view> read_value(std::string_view source, std::size_t& at) {
  while (at < source.size() && is_ascii_space(source[at])) ++at;
  if (at == source.size()) return std::nullopt;
  const char quote = source[at];
  if (quote == '"' || quote == '\'') {
    const std::size_t end = source.find(quote, at + 1);
    if (end == source.npos) return std::nullopt;
    const std::string_view value = source.substr(at + 1, end - at - 1);
    at = end + 1;
    return value;
  }
  const std::size_t begin = at;
  while (at < source.size() && source[at] != '>' && !is_ascii_space(source[at])) ++at;
  return source.substr(begin, at - begin);
}

bool forbids_translation(std::string_view name, std::string_view value) {
  const std::string attribute = ascii_lower(name);
  if (attribute == "translate") return ascii_lower(value) == "no";
  if (attribute != "class") return false;
  const std::string classes = " " + std::string(value) + " ";
  return classes.find(" notranslate ") != classes.npos;
}

/// Reads the tag whose name begins at `at`; nothing if the source ends in it.
std::optional<Tag> read_tag(std::string_view source, std::size_t at) {
  Tag tag;
  const auto ends_name = [&](char c) { return is_ascii_space(c) || c == '/' || c == '>'; };
  const std::size_t begin = at;
  while (at < source.size() && !ends_name(source[at])) ++at;
  tag.name = ascii_lower(source.substr(begin, at - begin));
  while (at < source.size()) {
    if (source[at] == '>') {
      tag.end = at + 1;
      return tag;
    }
    if (is_ascii_space(source[at]) || source[at] == '/') {
      ++at;
      continue;
    }
    const std::size_t name = at++;  // a name may begin with "="
    while (at < source.size() && !ends_name(source[at]) && source[at] != '=') ++at;
    const std::string_view attribute = source.substr(name, at - name);
    std::size_t equals = at;
    while (equals < source.size() && is_ascii_space(source[equals])) ++equals;
    if (equals == source.size() || source[equals] != '=') continue;
    at = equals + 1;
    const auto value = read_value(source, at);
    if (!value) return std::nullopt;
    tag.untranslated = tag.untranslated || forbids_translation(attribute, *value);
  }
  return std::nullopt;
}

/// Returns the end of the comment that begins at `at` with "<!--".
std::size_t comment_end(std::string_view source, std::size_t at) {
  const std::size_t text = at + 4;
  if (source.substr(text).starts_with('>')) return text + 1;
  if (source.substr(text).starts_with("->")) return text + 2;
  for (std::size_t end = source.find("--", text); end != source.npos;
       end = source.find("--", end + 1)) {
    if (source.substr(end + 2).starts_with('>')) return end + 3;
    if (source.substr(end + 2).starts_with("!>")) return end + 4;
  }
  return source.size() + 1;
}

class HtmlTokenizer {
 public:
  explicit HtmlTokenizer(std::string_view source) : source_(source) {}

  std::vector<HtmlToken> tokens() {
    while (at_ < source_.size()) {
      const std::size_t open = source_.find('<', search_);
      if (open == source_.npos) break;
      search_ = open + 1;
      read_markup(open);
    }
    add_text(source_.size());
    return std::move(tokens_);
  }

 private:
  void add_text(std::size_t end) {
    if (end > at_) tokens_.push_back({HtmlTokenType::text, source_.substr(at_, end - at_)});
    at_ = end;
  }

  /// Adds the text before `begin`, and a token from there to `end`. A token in which the source
  /// ends comes after all text.
  HtmlToken& add(HtmlTokenType type, std::size_t begin, std::size_t end) {
    add_text(begin);
    if (end > source_.size()) {
      type = HtmlTokenType::cut;
      end = source_.size();
    }
    tokens_.push_back({type, source_.substr(begin, end - begin)});
    at_ = search_ = end;
    return tokens_.back();
  }

  void read_markup(std::size_t open) {
    const char next = open + 1 < source_.size() ? source_[open + 1] : ' ';
    const bool closes = next == '/';
    if (is_ascii_letter(next)) {
      read_start_tag(open);
    } else if (closes && open + 2 < source_.size() && is_ascii_letter(source_[open + 2])) {
      const auto tag = read_tag(source_, open + 2);
      const bool block = tag && is_one_of(kBlocks, tag->name);
      HtmlToken& token = add(block ? HtmlTokenType::cut : HtmlTokenType::close, open,
                             tag ? tag->end : source_.size() + 1);
      if (tag) token.name = tag->name;
    } else if (source_.substr(open).starts_with("<!--")) {
      add(HtmlTokenType::point, open, comment_end(source_, open));
    } else if (const std::size_t section = cdata_end(open); section > open) {
      add(HtmlTokenType::point, open, section).untranslated = true;
    } else if (const std::size_t code = code_end(open); code > open) {
      add(HtmlTokenType::point, open, code).untranslated = true;
    } else if (next == '!' || next == '?' || (closes && open + 2 < source_.size())) {
      const std::size_t end = source_.find('>', open);  // a doctype or a "bogus comment"
      const bool doctype = ascii_lower(source_.substr(open, 9)) == "<!doctype";
      add(doctype ? HtmlTokenType::cut : HtmlTokenType::point, open,
          end == source_.npos ? source_.size() + 1 : end + 1);
    }
  }

  /// Returns the end of a CDATA section, which may contain tags; `open` if there is none.
  std::size_t cdata_end(std::size_t open) {
    if (cdata_is_over_ || !source_.substr(open).starts_with("<![CDATA[")) return open;
    const std::size_t end = source_.find("]]>", open);
    cdata_is_over_ = end == source_.npos;
    return cdata_is_over_ ? open : end + 3;
  }

  /// Returns the end of a template's code, <% … %> or <?php … ?>; `open` if there is none. It may
  /// contain tags.
  std::size_t code_end(std::size_t open) const {
    constexpr std::size_t kLongest = 4096;
    const std::string_view code = source_.substr(open, kLongest);
    const bool php = code.starts_with("<?php") || code.starts_with("<?=");
    if (!php && !code.starts_with("<%")) return open;
    const std::size_t end = code.find(php ? "?>" : "%>");
    return end == code.npos ? open : open + end + 2;
  }

  void read_start_tag(std::size_t open) {
    const auto tag = read_tag(source_, open + 1);
    if (!tag) {
      add(HtmlTokenType::cut, open, source_.size() + 1);
      return;
    }
    const bool block = is_one_of(kBlocks, tag->name);
    const HtmlTokenType whole = block ? HtmlTokenType::cut : HtmlTokenType::point;
    if (is_one_of(kVoid, tag->name)) {
      add(whole, open, tag->end).name = tag->name;
      return;
    }
    const bool untranslated = tag->untranslated || is_one_of(kUntranslated, tag->name);
    if (const auto literal = untranslated ? std::nullopt : literal_end(*tag)) {
      add(HtmlTokenType::point, open, *literal).untranslated = tag->name == "a";
      return;
    }
    const std::size_t end = untranslated ? element_end(*tag) : tag->end;
    HtmlToken& token = add(untranslated || block ? whole : HtmlTokenType::open, open, end);
    token.name = tag->name;
    token.untranslated = untranslated;
    if (tag->name == "title" && !untranslated) {  // its text may have entities but no tags
      search_ = std::min(text_end(tag->name, at_), source_.size());
    }
  }

  /// Returns the beginning of the end tag of an element whose text contains no tags.
  std::size_t text_end(std::string_view name, std::size_t at) const {
    for (at = source_.find("</", at); at != source_.npos; at = source_.find("</", at + 2)) {
      if (ascii_lower(source_.substr(at + 2, name.size())) != name) continue;
      const std::size_t behind = at + 2 + name.size();
      if (behind == source_.size()) break;
      const char c = source_[behind];
      if (is_ascii_space(c) || c == '/' || c == '>') return at;
    }
    return source_.size() + 1;
  }

  /// Returns the end of an element that is not translated.
  std::size_t element_end(const Tag& start) const {
    const bool raw = is_one_of(kRawText, start.name);
    int depth = 1;
    std::size_t at = start.end;
    if (source_.substr(start.end - 2, 2) == "/>" && is_foreign(start.name)) return at;
    while (start.name != "plaintext") {
      at = raw ? text_end(start.name, at) : source_.find('<', at);
      if (at >= source_.size()) break;
      const bool closes = source_.substr(at).starts_with("</");
      const std::size_t name = at + (closes ? 2 : 1);
      if (source_.substr(at).starts_with("<!--")) {
        at = comment_end(source_, at);
      } else if (name < source_.size() && is_ascii_letter(source_[name])) {
        const auto tag = read_tag(source_, name);
        if (!tag) break;
        at = tag->end;
        if (tag->name == start.name) depth += closes ? -1 : 1;
        if (depth == 0) return at;
        if (!closes && is_one_of(kRawText, tag->name)) at = text_end(tag->name, at);
      } else {
        at = name;
      }
      if (at >= source_.size()) break;
    }
    return source_.size() + 1;
  }

  /// Returns the end of a link whose text is an address, a mention or a hashtag, which may have
  /// tags inside ("@<span>user</span>"), and of a raised or lowered number at the end of a word
  /// (the mark of a footnote); nothing for other elements.
  std::optional<std::size_t> literal_end(const Tag& start) const {
    constexpr std::size_t kLongest = 2048;
    const bool link = start.name == "a";
    if (!link && start.name != "sup" && start.name != "sub") return std::nullopt;
    const std::string_view source = source_.substr(0, start.end + kLongest);
    std::string text;
    for (std::size_t at = start.end;;) {
      const std::size_t open = source.find('<', at);
      if (open == source.npos) return std::nullopt;
      text += source.substr(at, open - at);
      const bool closes = source.substr(open).starts_with("</");
      const auto tag = read_tag(source, open + (closes ? 2 : 1));
      if (!tag || tag->name.empty() || !is_ascii_letter(tag->name.front())) return std::nullopt;
      at = tag->end;
      if (tag->name != start.name) continue;
      if (!closes || !(link ? is_address(text) : is_number(text))) return std::nullopt;
      const bool inside = at < source_.size() && is_word_byte(source_[at]);
      return inside ? std::nullopt : std::optional(at);
    }
  }

  static bool is_word_byte(char c) {
    return is_ascii_letter(c) || is_digit(c) || byte_value(c) >= 0x80;
  }

  static bool is_address(std::string_view text) {
    if (text.size() < 2 || std::ranges::any_of(text, is_ascii_space)) return false;
    const bool name = (text.front() == '@' || text.front() == '#') && is_word_byte(text[1]);
    return name || text.find("://") != text.npos || ascii_lower(text).starts_with("www.") ||
           (text.find('@') < text.rfind('.') && text.rfind('.') != text.npos);
  }

  static bool is_number(std::string_view text) {
    return std::ranges::any_of(text, is_digit) &&
           text.find_first_not_of("0123456789[]()*,.;+- ") == text.npos;
  }

  static bool is_foreign(std::string_view name) { return name == "svg" || name == "math"; }

  std::string_view source_;
  std::size_t at_ = 0;          ///< end of the last token
  std::size_t search_ = 0;      ///< where the next search for "<" begins
  bool cdata_is_over_ = false;  ///< no "]]>" follows
  std::vector<HtmlToken> tokens_;
};

// Entities. Those for Latin letters occur inside words, so a model must see their characters.

/// U+00A0 to U+00FF, in order.
constexpr std::array<std::string_view, 96> kLatin = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",
    "copy",   "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn",
    "sup2",   "sup3",   "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",
    "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave",
    "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde",
    "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",
    "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",
    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

char32_t named_character(std::string_view name) {
  static const std::map<std::string_view, char32_t> others = {
      {"amp", U'&'},      {"AMP", U'&'},      {"lt", U'<'},      {"LT", U'<'},
      {"gt", U'>'},       {"GT", U'>'},       {"quot", U'"'},    {"QUOT", U'"'},
      {"apos", U'\''},    {"ndash", 0x2013},  {"mdash", 0x2014}, {"lsquo", 0x2018},
      {"rsquo", 0x2019},  {"sbquo", 0x201a},  {"ldquo", 0x201c}, {"rdquo", 0x201d},
      {"bdquo", 0x201e},  {"hellip", 0x2026}, {"bull", 0x2022},  {"lsaquo", 0x2039},
      {"rsaquo", 0x203a}, {"euro", 0x20ac},   {"trade", 0x2122}, {"OElig", 0x152},
      {"oelig", 0x153},   {"Scaron", 0x160},  {"scaron", 0x161}, {"Yuml", 0x178},
      {"dagger", 0x2020}, {"rarr", 0x2192},   {"larr", 0x2190},  {"minus", 0x2212}};
  const auto latin = std::ranges::find(kLatin, name);
  if (latin != kLatin.end()) return 0xa0 + static_cast<char32_t>(latin - kLatin.begin());
  const auto found = others.find(name);
  return found == others.end() ? 0 : found->second;
}

char32_t numbered_character(std::string_view digits) {
  const bool hex = digits.starts_with('x') || digits.starts_with('X');
  if (hex) digits.remove_prefix(1);
  char32_t value = 0;
  for (const char c : digits) {
    const char small = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const int digit = small >= 'a' ? small - 'a' + 10 : small - '0';
    value = value * (hex ? 16 : 10) + static_cast<char32_t>(digit);
    if (value > 0x10ffff) return 0;
  }
  const bool control = value < 0x20 || (value >= 0x7f && value < 0xa0);
  return control || (value >= 0xd800 && value < 0xe000) ? 0 : value;
}

}  // namespace

std::vector<HtmlToken> tokenize_html(std::string_view source) {
  return HtmlTokenizer(source).tokens();
}

std::string decode_entity(std::string_view text, std::size_t& length) {
  constexpr std::size_t kLongest = 34;  // the standard's longest name has 31 letters
  length = 0;
  const std::string_view head = text.substr(0, kLongest);
  const std::size_t end = head.find(';');
  if (!head.starts_with('&') || end == head.npos || end < 2) return "";
  const std::string_view name = head.substr(1, end - 1);
  const bool number = name.front() == '#';
  const bool hex = number && name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
  const std::string_view rest = name.substr(hex ? 2 : number ? 1 : 0);
  const auto fits = [&](char c) {
    const bool digit = c >= '0' && c <= '9';
    if (number && !hex) return digit;
    return digit || (hex ? (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') : is_ascii_letter(c));
  };
  if (rest.empty() || !std::ranges::all_of(rest, fits)) return "";
  length = end + 1;
  const char32_t value = number ? numbered_character(name.substr(1)) : named_character(name);
  std::string character;
  if (value != 0) append_code_point(character, value);
  return character;
}

}  // namespace attn
