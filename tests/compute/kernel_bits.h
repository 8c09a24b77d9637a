// Checks which tables of kernels compute the same bits, and computes a digest of them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings/sha256.h"
#include "kernel_rows.h"

namespace attn::test {

using Rows = std::vector<Row>;

/// Compares the results of this machine's tables, and computes a digest of them.
class Bits {
 public:
  Bits() : tables_(all_kernels()) {
    tables_.erase(tables_.begin());  // the portable one rounds more often
    if (tables_.empty()) MESSAGE("this CPU has the portable kernels alone: compared nothing");
  }

  /// True if all tables give the same bits in every row that `work` returns.
  template <typename Work>
  bool same(const Work& work) {
    if (tables_.empty()) return true;
    const auto first = work(*tables_.front());
    add(first);
    return agree(first, work);
  }

  /// Does the same without adding to the digest, because the system's logarithm may differ on
  /// other machines.
  template <typename Work>
  bool same_here(const Work& work) const {
    return tables_.empty() || agree(work(*tables_.front()), work);
  }

  /// Returns the digest of everything that same() has seen; `expected` if there was nothing to
  /// see.
  std::string digest(const std::string& expected) const {
    return tables_.empty() ? expected : digest_.hex();
  }

 private:
  template <typename Found, typename Work>
  bool agree(const Found& first, const Work& work) const {
    return std::all_of(tables_.begin() + 1, tables_.end(),
                       [&](const Kernels* k) { return work(*k) == first; });
  }
  void add(const Row& row) {
    digest_.update(
        {reinterpret_cast<const char*>(row.data()), to_size(row.size()) * sizeof(float)});
  }
  void add(const Rows& rows) {
    for (const Row& row : rows) add(row);
  }

  std::vector<const Kernels*> tables_;
  Sha256 digest_;
};

}  // namespace attn::test
