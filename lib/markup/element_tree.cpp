#include "markup/element_tree.h"

#include <algorithm>
#include <utility>

#include "base/at.h"

namespace attn {

ElementTree::ElementTree(const MarkedSegment& segment) {
  elements_.emplace_back();
  std::vector<std::size_t> open{0};  // elements that are still open, outermost first
  const auto add_child = [&](Child child) { elements_[open.back()].children.push_back(child); };
  const auto close_last = [&](std::size_t end) {
    elements_[open.back()].end = end;
    open.pop_back();
  };
  for (std::size_t i = 0; i < segment.items.size(); ++i) {
    const MarkupItem& item = segment.items[i];
    const int number = to_int(i);
    if (item.type == ItemType::point) {
      add_child({number});
    } else if (item.type == ItemType::open) {
      add_child({-1, elements_.size()});
      open.push_back(elements_.size());
      elements_.emplace_back();
      elements_.back().open = number;
      elements_.back().begin = item.offset;
    } else if (item.type == ItemType::close) {
      const bool here = item.partner >= 0;
      while (open.size() > 1 && !(here && elements_[open.back()].open == item.partner)) {
        close_last(item.offset);
      }
      if (here && open.size() > 1) {
        elements_[open.back()].close = number;
        close_last(item.offset);
      } else {  // everything in the segment so far belongs to an element that began earlier
        Element earlier;
        earlier.close = number;
        earlier.end = item.offset;
        earlier.children = std::exchange(elements_.front().children, {{-1, elements_.size()}});
        elements_.push_back(std::move(earlier));
      }
    }
  }
  while (!open.empty()) close_last(segment.text.size());
  for (Element& element : elements_) {
    for (std::size_t i = 0; i < element.children.size(); ++i) {
      element.children[i].index = i;
      if (element.children[i].item < 0) element.elements.push_back(i);
    }
  }
}

std::size_t ElementTree::child_at(const Element& parent, std::size_t offset) const {
  const auto element_of = [&](std::size_t index) -> const Element& {
    return elements_[parent.children[index].element];
  };
  // Siblings are ordered and do not overlap, so this is the first one that ends after the offset.
  const auto found = std::ranges::upper_bound(
      parent.elements, offset, {}, [&](std::size_t index) { return element_of(index).end; });
  if (found == parent.elements.end() || element_of(*found).begin > offset) return no_child;
  return *found;
}

}  // namespace attn
