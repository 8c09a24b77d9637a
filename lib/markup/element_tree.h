// The elements of a segment and what is in them.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "markup/marked_text.h"

namespace attn {

/// A tree of a segment's items but its whitespace. An element whose end tag is missing reaches to
/// the end of its parent; one that began before the segment begins with it.
class ElementTree {
 public:
  /// An item that is no element, or an element.
  struct Child {
    int item = -1;  ///< in MarkedSegment::items; −1: an element
    std::size_t element = 0;
    std::size_t index = 0;  ///< among its parent's children
  };
  struct Element {
    int open = -1, close = -1;          ///< its items; −1: not in the segment
    std::size_t begin = 0, end = 0;     ///< in the segment's text
    std::vector<Child> children;        ///< in the order of the source
    std::vector<std::size_t> elements;  ///< the indices of those children that are elements
  };

  explicit ElementTree(const MarkedSegment& segment);

  Child root() const { return {-1, 0, 0}; }
  const Element& element(std::size_t number) const { return elements_[number]; }

  static constexpr std::size_t no_child = std::numeric_limits<std::size_t>::max() - 1;

  /// Returns the index of the child element that contains an offset of the text; no_child if none
  /// does.
  std::size_t child_at(const Element& parent, std::size_t offset) const;

 private:
  std::vector<Element> elements_;  ///< the first is the segment
};

}  // namespace attn
