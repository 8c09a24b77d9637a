#include "base/excerpt.h"

#include "base/utf8.h"

namespace attn {

std::string excerpt(std::string_view piece) {
  constexpr std::size_t kMostBytes = 240;  // that are looked at
  return fit_width(printable(piece.substr(0, kMostBytes)), 60);
}

}  // namespace attn
