// Replacement for the ICU character functions that the libraries use, based on a table generated
// with ICU (make_characters.cpp). The declarations are ICU's own.
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace {

struct Range {
  UChar32 first;
  int properties;  ///< packed by make_characters.cpp
};

constexpr Range kRanges[] = {
#include "characters.inc"
};

constexpr int kCategory = 0x1F;

int packed_properties(UChar32 c) {
  if (c < 0 || c > 0x10FFFF) return 0;
  const auto next =
      std::upper_bound(std::begin(kRanges), std::end(kRanges), c,
                       [](UChar32 each, const Range& range) { return each < range.first; });
  return std::prev(next)->properties;
}

bool is_in_categories(UChar32 c, int categories) {
  return (U_MASK(packed_properties(c) & kCategory) & static_cast<unsigned>(categories)) != 0;
}

/// Returns the bit of a property in a range's properties.
int property_bit(UProperty property) {
  switch (property) {
    case UCHAR_WHITE_SPACE:
      return 1 << 5;
    case UCHAR_ALPHABETIC:
      return 1 << 6;
    case UCHAR_JOIN_CONTROL:
      return 1 << 7;
    case UCHAR_PREPENDED_CONCATENATION_MARK:
      return 1 << 8;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

int8_t u_charType(UChar32 c) {
  return static_cast<int8_t>(packed_properties(c) & kCategory);
}
UBool u_hasBinaryProperty(UChar32 c, UProperty which) {
  return (packed_properties(c) & property_bit(which)) != 0;
}
int32_t u_getIntPropertyValue(UChar32 c, UProperty) {
  return (packed_properties(c) & 1 << 9) != 0 ? U_EA_WIDE : U_EA_NEUTRAL;  // the only property used
}
UBool u_isUWhiteSpace(UChar32 c) {
  return u_hasBinaryProperty(c, UCHAR_WHITE_SPACE);
}
UBool u_ispunct(UChar32 c) {
  return is_in_categories(c, U_GC_P_MASK);
}
UBool u_isdigit(UChar32 c) {
  return is_in_categories(c, U_GC_ND_MASK);
}
UBool u_isalpha(UChar32 c) {
  return is_in_categories(c, U_GC_L_MASK);
}
UBool u_islower(UChar32 c) {
  return is_in_categories(c, U_GC_LL_MASK);
}
UBool u_isupper(UChar32 c) {
  return is_in_categories(c, U_GC_LU_MASK);
}
}
