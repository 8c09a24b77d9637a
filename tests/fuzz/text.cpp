// Fuzzes external text: cleans, prints and measures any bytes.
#include "base/strings/utf8.h"

#include "fuzz.h"

using namespace attn;

FUZZ(bytes) {
  const CleanedText cleaned = clean_text(bytes);
  fuzz::require(is_valid_utf8(cleaned.text), "clean text is UTF-8");
  const CleanedText again = clean_text(cleaned.text);
  fuzz::require(again.text == cleaned.text && again.invalid_bytes == 0 && again.controls == 0,
                "clean text stays as it is");
  fuzz::require(is_valid_utf8(bytes) == (cleaned.invalid_bytes == 0), "both see what is invalid");
  const std::string shown = printable(bytes);
  fuzz::require(is_valid_utf8(shown) && printable(shown) == shown, "printable text stays");
  fuzz::require(shown.find('\x1b') == shown.npos, "no escape is printed");
  for (const int columns : {0, 1, 7, 60}) {
    fuzz::require(display_width(truncate_to_width(shown, columns)) <= columns, "cut to the width");
  }
}
