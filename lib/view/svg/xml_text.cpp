#include "view/svg/xml_text.h"

#include "base/strings/utf8.h"

namespace attn {

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
