#include "view/svg/svg_text.h"

#include <algorithm>
#include <array>

#include "base/strings/utf8.h"

namespace attn {
namespace {

// Advances of U+0020 to U+007E in DejaVu Sans, in hundredths of the font size.
constexpr std::array<unsigned char, 95> ascii_advance = {
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 68,  61, 68, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64,  64, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

// Cyrillic letters that are half again as wide as the others.
constexpr std::u32string_view wide_cyrillic = U"ЖМФШЩЫЮжмфшщыюЉЊљњ";

constexpr double bold_factor = 1.12;
constexpr std::string_view cut_mark = "…";

/// Returns a character's advance as a fraction of the font size.
double advance(char32_t value, std::string_view bytes) {
  if (value < 0x20) return 0;
  if (value < 0x7f) return ascii_advance[value - 0x20] / 100.0;
  const int columns = display_width(bytes);
  if (columns == 0) return 0;
  if (columns > 1) return value >= 0x1f000 ? 1.3 : 1.05;
  if (value == U'·') return 0.32;
  if (value == U'Æ' || value == U'æ' || value == U'Œ' || value == U'œ') return 1.07;
  if (value < 0x250) return 0.68;  // Latin
  if (wide_cyrillic.find(value) != std::u32string_view::npos) return 1.1;
  if (value >= 0x370 && value < 0x530) return 0.78;  // Greek, Cyrillic
  if (value >= 0x590 && value < 0x600) return 0.7;   // Hebrew
  if (value == U'–' || value == U'‘' || value == U'’') return 0.5;
  return value == U'…' || value == U'—' ? 1.0 : 0.9;
}

struct Glyph {
  std::string_view bytes;
  double advance = 0;
};

/// Removes and returns the first character of a non-empty text.
Glyph take_glyph(std::string_view& text) {
  const CodePoint point = decode_code_point(text);
  const std::string_view bytes = text.substr(0, point.length);
  text.remove_prefix(point.length);
  return {bytes, advance(point.value, bytes)};
}

/// Returns the length in bytes of the longest prefix that is at most `width` wide.
std::size_t fitting(std::string_view text, double font_size, double width) {
  double used = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t before = text.size() - rest.size();
    used += take_glyph(rest).advance * font_size;
    if (used > width) return before;
  }
  return text.size();
}

}  // namespace

double text_width(std::string_view text, double font_size, FontWeight weight) {
  double width = 0;
  while (!text.empty()) width += take_glyph(text).advance;
  return width * font_size * (weight == FontWeight::bold ? bold_factor : 1.0);
}

std::string fit_text(std::string_view text, double font_size, double width) {
  if (fitting(text, font_size, width) == text.size()) return std::string(text);
  const double room = width - text_width(cut_mark, font_size);
  std::string cut(text.substr(0, fitting(text, font_size, room)));
  while (cut.ends_with(' ')) cut.pop_back();
  return cut.append(cut_mark);
}

std::vector<std::string> wrap_text(std::string_view text, double font_size, double width,
                                   std::size_t lines) {
  std::vector<std::string> wrapped;
  while (wrapped.size() + 1 < lines) {
    std::size_t end = fitting(text, font_size, width);
    if (end == text.size()) break;
    const std::size_t blank = text.substr(0, end + 1).rfind(' ');
    if (blank != std::string_view::npos && blank > 0) end = blank;
    if (end == 0) break;  // not even one character
    wrapped.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ', end)));
  }
  wrapped.push_back(fit_text(text, font_size, width));
  return wrapped;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const std::string visible = printable(text); const char c : visible) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {  // U+FFFE, U+FFFF
    for (std::size_t at; (at = out.find(forbidden)) != std::string::npos;) {
      out.replace(at, forbidden.size(), "\xef\xbf\xbd");
    }
  }
  return out;
}

}  // namespace attn
