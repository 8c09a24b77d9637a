// Finds the positions of a segment's markup in its translation.
#pragma once

#include <cstddef>
#include <vector>

#include "markup/marked_text.h"
#include "markup/unit_alignment.h"

namespace attn {

/// Positions in a translation, in order. 2 k is after unit k − 1, and 2 k + 1 before unit k; the
/// whitespace between the units is between them.
using Slot = std::size_t;
constexpr Slot slot_behind(std::size_t end) {
  return 2 * end;
}
constexpr Slot slot_before(std::size_t begin) {
  return 2 * begin + 1;
}

struct PlacedItem {
  Slot slot = 0;
  int item = 0;  ///< in MarkedSegment::items
};

/// Returns all items but whitespace, sorted by slot and nested properly.
std::vector<PlacedItem> place_items(const MarkedSegment& segment, const UnitAlignment& units);

}  // namespace attn
