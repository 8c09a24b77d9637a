#include "markup/item_placer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "base/at.h"
#include "markup/element_tree.h"

namespace attn {
namespace {

/// A run of target units.
struct Range {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

/// Finds the slot of each item.
class ItemPlacer {
 public:
  ItemPlacer(const MarkedSegment& segment, const UnitAlignment& units)
      : segment_(segment), units_(units), tree_(segment) {
    taken_.assign(units.target.size(), false);
  }

  /// Returns all items except whitespace, sorted by slot and properly nested.
  std::vector<PlacedItem> place() {
    work_.push_back({tree_.root(), {0, units_.target.size()}, kNowhere, 0, false});
    while (!work_.empty()) {
      const Work next = work_.back();
      work_.pop_back();
      const ElementTree::Child child = next.child;
      if (child.item >= 0) {
        placed_.push_back({next.slot, child.item});
      } else if (next.closes) {
        const int close = tree_.element(child.element).close;
        if (close >= 0) placed_.push_back({next.slot, close});
      } else {
        enter(next);
      }
    }
    return std::move(placed_);
  }

 private:
  /// Something to write: an item, the end of an element, or an element with its content.
  struct Work {
    ElementTree::Child child;
    Range range;  ///< range of an element; empty: everything is at `slot`
    Slot slot = kNowhere;
    std::size_t depth = 0;
    bool closes = false;
  };

  void enter(const Work& work) {
    const ElementTree::Element& element = tree_.element(work.child.element);
    const bool empty = work.range.empty();
    const Slot first = !empty                  ? slot_before(work.range.begin)
                       : work.slot == kNowhere ? 0
                                               : work.slot;
    const Slot last = empty ? first : slot_behind(work.range.end);
    if (element.open >= 0) placed_.push_back({first, element.open});
    work_.push_back({work.child, {}, last, 0, true});
    std::vector<Work> children = empty ? all_at(element, first) : arranged(element, work);
    work_.insert(work_.end(), children.rbegin(), children.rend());
  }

  static std::vector<Work> all_at(const ElementTree::Element& element, Slot slot) {
    std::vector<Work> children;
    for (const ElementTree::Child child : element.children) {
      children.push_back({child, {}, slot, 0, false});
    }
    return children;
  }

  /// Returns the children of an element with their places, in the order of the translation.
  std::vector<Work> arranged(const ElementTree::Element& parent, const Work& work) {
    std::vector<Work> children;
    std::vector<Range> ranges;
    label(parent, work.range);
    Range free = work.range;
    for (int pass = 0; pass < 2; ++pass) {  // elements that continue outside the segment come first
      for (std::size_t i = 0; i < parent.children.size(); ++i) {
        const ElementTree::Child child = parent.children[i];
        if (child.item >= 0 || !has_units(child.element)) continue;
        const ElementTree::Element& element = tree_.element(child.element);
        const bool open_ended = element.open < 0 || element.close < 0;
        if (open_ended != (pass == 0)) continue;
        const Range range = find_range(parent, i, free, work.depth);
        if (range.empty()) continue;
        if (element.open < 0)
          free.begin = range.end;
        else if (element.close < 0)
          free.end = range.begin;
        std::fill(taken_.begin() + to_index(range.begin), taken_.begin() + to_index(range.end),
                  true);
        children.push_back({child, range, slot_before(range.begin), work.depth + 1, false});
        ranges.push_back(range);
      }
    }
    for (const Range& range : ranges) {
      std::fill(taken_.begin() + to_index(range.begin), taken_.begin() + to_index(range.end),
                false);
    }
    std::ranges::sort(ranges, {}, &Range::begin);
    std::vector<bool> has_range(parent.children.size(), false);
    for (const Work& child : children) has_range[child.child.index] = true;
    std::vector<Work> points;
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
      if (has_range[i]) continue;
      const Slot slot = beside(ranges, point_slot(parent, parent.children[i], work.range));
      points.push_back({parent.children[i], {}, slot, 0, false});
    }
    // In the same slot, points come before elements that begin there.
    points.insert(points.end(), children.begin(), children.end());
    std::ranges::stable_sort(points, {}, &Work::slot);
    return points;
  }

  /// Finds for each unit of the range the child of the parent that it belongs to.
  void label(const ElementTree::Element& parent, Range range) {
    labels_.assign(range.end - range.begin, kNowhere);
    label_begin_ = range.begin;
    positions_.clear();
    for (std::size_t k = range.begin; k < range.end; ++k) {
      if (units_.partners[k] == kNowhere) continue;
      const std::size_t child = tree_.child_at(parent, units_.source[units_.partners[k]].begin);
      labels_[k - range.begin] = child;
      if (child != ElementTree::no_child) positions_[child].push_back(k);
    }
  }

  std::size_t label_of(std::size_t unit) const { return labels_[unit - label_begin_]; }

  /// Returns 1 for a unit of the child, −1 for a unit of something else, 0 for an unaligned unit.
  int vote(std::size_t unit, std::size_t child) const {
    const std::size_t found = label_of(unit);
    return found == kNowhere ? 0 : found == child ? 1 : -1;
  }

  bool has_units(std::size_t element) const {
    const ElementTree::Element& e = tree_.element(element);
    const std::size_t first = units_.source_at(e.begin);
    return first < units_.source.size() && units_.source[first].begin < e.end;
  }

  /// True if no word of the parent is outside the child.
  bool is_all_of(const ElementTree::Element& parent, const ElementTree::Element& child) const {
    const std::size_t before_child = units_.source_at(parent.begin);
    const std::size_t behind_child = units_.source_at(child.end);
    return units_.source[before_child].begin >= child.begin &&
           (behind_child == units_.source.size() ||
            units_.source[behind_child].begin >= parent.end);
  }

  /// Finds the units of a child with text.
  Range find_range(const ElementTree::Element& parent, std::size_t child, Range free,
                   std::size_t depth) {
    constexpr std::size_t kDeepest = 200;  // limits the time for deeper nesting
    const ElementTree::Element& element = tree_.element(parent.children[child].element);
    if (free.empty()) return {};
    if (is_all_of(parent, element)) return taken_[free.begin] ? Range{} : free;
    if (depth > kDeepest) return {};
    const auto found = positions_.find(child);
    if (found == positions_.end()) return any_free(element, parent, free);
    const std::vector<std::size_t>& own = found->second;
    if (element.open < 0) return best_prefix(child, free, own.back());
    if (element.close < 0) return best_suffix(child, free, own.front());
    const Range best = best_run(child, free, own);
    return best.empty() ? any_free(element, parent, free) : best;
  }

  /// Returns the beginning of the free units that ends with a unit of the child and has the most
  /// votes.
  Range best_prefix(std::size_t child, Range free, std::size_t last) const {
    Range best{free.begin, free.begin};
    int sum = 0, most = std::numeric_limits<int>::min();
    for (std::size_t k = free.begin; k <= last && k < free.end && !taken_[k]; ++k) {
      sum += vote(k, child);
      if (vote(k, child) > 0 && sum > most) most = sum, best.end = k + 1;
    }
    return best;
  }

  /// Returns the end of the free units that begins with a unit of the child and has the most
  /// votes.
  Range best_suffix(std::size_t child, Range free, std::size_t first) const {
    Range best{free.end, free.end};
    int sum = 0, most = std::numeric_limits<int>::min();
    for (std::size_t k = free.end; k > free.begin && k > first && !taken_[k - 1]; --k) {
      sum += vote(k - 1, child);
      if (vote(k - 1, child) > 0 && sum > most) most = sum, best.begin = k - 1;
    }
    return best;
  }

  /// Returns the run of free units with the highest sum of votes (Kadane's algorithm).
  Range best_run(std::size_t child, Range free, const std::vector<std::size_t>& own) const {
    Range best, run;
    int most = 0, sum = 0;
    for (std::size_t k = own.front(); k <= own.back(); ++k) {
      if (k < free.begin || k >= free.end || taken_[k]) {
        sum = 0;
        continue;
      }
      const int votes = vote(k, child);
      if (sum <= 0) {
        if (votes <= 0) continue;
        sum = 0;
        run.begin = k;
      }
      sum += votes;
      if (sum > most) most = sum, best = {run.begin, k + 1};
    }
    return best;
  }

  /// Returns a free unit for an element without aligned words, at about its relative position in
  /// its parent.
  Range any_free(const ElementTree::Element& element, const ElementTree::Element& parent,
                 Range free) const {
    constexpr std::size_t kFarthest = 64;
    const std::size_t first = units_.source_at(parent.begin);
    const std::size_t end = units_.source_at(parent.end);
    const std::size_t own = units_.source_at(element.begin);
    const std::size_t count = std::max<std::size_t>(1, end - first);
    const std::size_t guess = free.begin + (own - first) * (free.end - free.begin) / count;
    for (std::size_t away = 0; away < kFarthest; ++away) {
      for (const std::size_t k : {guess + away, guess - away}) {
        if (k < free.begin || k >= free.end || taken_[k] || units_.target[k].punctuation) continue;
        if (element.open < 0) return best_open_end({free.begin, k + 1});
        if (element.close < 0) return best_open_end({k, free.end});
        return {k, k + 1};
      }
    }
    return {};
  }

  /// Returns the range if all of it is free.
  Range best_open_end(Range range) const {
    const auto begin = taken_.begin();
    const bool taken = std::find(begin + to_index(range.begin), begin + to_index(range.end),
                                 true) != begin + to_index(range.end);
    return taken ? Range{} : range;
  }

  /// Returns where an item, or an element without text, belongs in its parent's range.
  Slot point_slot(const ElementTree::Element& parent, ElementTree::Child child, Range range) const {
    const bool is_item = child.item >= 0;
    const MarkupItem* item = is_item ? &at(segment_.items, child.item) : nullptr;
    const std::size_t offset = is_item ? item->offset : tree_.element(child.element).begin;
    const std::size_t first = units_.source_at(parent.begin);
    const std::size_t next = units_.source_at(offset);
    const bool leading = next <= first;
    const bool trailing = next >= units_.source.size() || units_.source[next].begin >= parent.end;
    if (leading && parent.open >= 0) return slot_before(range.begin);
    if (leading) return range.begin == 0 ? 1 : slot_before(range.begin);
    if (trailing) return slot_behind(range.end);
    const std::size_t previous = next - 1;
    const bool attached = units_.source[previous].end == offset && !(item && item->space_before);
    const bool ends = std::string_view(".!?").find(segment_.text[units_.source[next].begin]) !=
                      std::string_view::npos;
    const Slot left = left_slot(previous, range), right = right_slot(next, range);
    const bool prefer_left = attached || (ends && left != kNowhere && item && item->placeholder);
    if (prefer_left && left != kNowhere) return left;
    if (right != kNowhere) return right;
    if (left != kNowhere) return left;
    return nearest(first, previous, range);
  }

  Slot left_slot(std::size_t unit, Range range) const {
    const std::size_t k = units_.last_of(unit);
    return k == kNowhere || k < range.begin || k >= range.end ? kNowhere : slot_behind(k + 1);
  }

  Slot right_slot(std::size_t unit, Range range) const {
    const std::size_t k = units_.first_of(unit);
    return k == kNowhere || k < range.begin || k >= range.end ? kNowhere : slot_before(k);
  }

  /// Returns the end of the last aligned unit up to `unit`; the beginning of the range if there is
  /// none.
  Slot nearest(std::size_t first, std::size_t unit, Range range) const {
    constexpr std::size_t kFarthest = 64;
    for (std::size_t i = unit; i + kFarthest > unit && i >= first; --i) {
      if (const Slot slot = left_slot(i, range); slot != kNowhere) return slot;
      if (i == 0) break;
    }
    return slot_before(range.begin);
  }

  /// Moves a slot that is inside one of the ranges to the nearer end of that range.
  static Slot beside(const std::vector<Range>& ranges, Slot slot) {
    auto it = std::ranges::upper_bound(ranges, slot, {},
                                       [](const Range& range) { return slot_before(range.begin); });
    if (it == ranges.begin()) return slot;
    const Range& range = *--it;
    const Slot begin = slot_before(range.begin), end = slot_behind(range.end);
    if (slot <= begin || slot >= end) return slot;
    return slot - begin < end - slot ? begin : end;
  }

  const MarkedSegment& segment_;
  const UnitAlignment& units_;
  ElementTree tree_;
  std::vector<Work> work_;
  std::vector<PlacedItem> placed_;
  std::vector<bool> taken_;
  std::vector<std::size_t> labels_;
  std::size_t label_begin_ = 0;
  std::map<std::size_t, std::vector<std::size_t>> positions_;  ///< positions of a child's units
};

}  // namespace

std::vector<PlacedItem> place_items(const MarkedSegment& segment, const UnitAlignment& units) {
  return ItemPlacer(segment, units).place();
}

}  // namespace attn
