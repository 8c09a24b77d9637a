// Writes ICU's properties of all characters as a table for web/characters.cpp; runs during the
// build.
#include <unicode/uchar.h>

#include <cstdio>

int main() {
  const auto facts = [](UChar32 c) {
    const auto has = [c](UProperty property, int bit) {
      return u_hasBinaryProperty(c, property) ? 1 << bit : 0;
    };
    return u_charType(c) | has(UCHAR_WHITE_SPACE, 5) | has(UCHAR_ALPHABETIC, 6) |
           has(UCHAR_JOIN_CONTROL, 7) | has(UCHAR_PREPENDED_CONCATENATION_MARK, 8);
  };
  const auto wide = [](UChar32 c) {
    const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 1 << 9 : 0;
  };
  int last = -1;
  for (UChar32 c = 0; c <= 0x10FFFF; ++c) {
    const int now = facts(c) | wide(c);
    if (now != last)
      std::printf("{0x%x, 0x%x},\n", static_cast<unsigned>(c), static_cast<unsigned>(now));
    last = now;
  }
}
