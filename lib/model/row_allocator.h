// Allocates ranges of rows.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "base/index.h"

namespace attn {

/// Allocates contiguous rows: the first gap that is large enough, else the memory grows. Released
/// rows merge with adjacent gaps, so that a memory with all rows free is always a single gap.
class RowAllocator {
 public:
  /// Returns the first of `count` free rows and marks them as taken.
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

  /// Releases all or some rows of one allocate().
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

  /// Returns the rows that the memory needs for everything ever allocated.
  Index rows() const { return rows_; }

 private:
  std::map<Index, Index> gaps_;  ///< first row and size; gaps never touch
  Index rows_ = 0;
};

}  // namespace attn
