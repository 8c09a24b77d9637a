// Which rows of a memory are taken, in ranges.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "base/index.h"

namespace attn {

/// Hands out rows that lie one after another: the first gap that is large enough, else the memory
/// grows. What is given back joins the gaps beside it, so that a memory in which all is free is one
/// gap again, however its rows came and went.
class RowAllocator {
 public:
  /// The first of `count` rows that nobody has.
  Index allocate(Index count) {
    for (auto gap = gaps_.begin(); count > 0 && gap != gaps_.end(); ++gap) {
      const auto [first, size] = *gap;
      if (size < count && first + size < rows_) continue;
      gaps_.erase(gap);
      rows_ = std::max(rows_, first + count);  // the last gap grows with the memory
      if (size > count) gaps_.emplace(first + count, size - count);
      return first;
    }
    const Index first = rows_;
    rows_ += count;
    return first;
  }

  /// Rows of one take(), or some of them.
  void release(Index first, Index count) {
    if (count == 0) return;
    auto after = gaps_.lower_bound(first);
    if (after != gaps_.end() && first + count == after->first) {
      count += after->second;
      after = gaps_.erase(after);
    }
    if (after != gaps_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == first) {
        before->second += count;
        return;
      }
    }
    gaps_.emplace(first, count);
  }

  /// Rows that the memory must have for all that was ever taken.
  Index rows() const { return rows_; }

 private:
  std::map<Index, Index> gaps_;  ///< first row and size; none touches another
  Index rows_ = 0;
};

}  // namespace attn
