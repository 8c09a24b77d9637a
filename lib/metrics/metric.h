// What a metric counts of each sentence, so that samples of the sentences can be scored again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace attn {

/// Texts to compare with: one list of lines for each set of references.
using References = std::span<const std::vector<std::string>>;

/// Numbers whose sums over sentences are what a corpus's score is computed from.
struct SentenceStatistics {
  std::size_t columns = 0;
  std::vector<double> numbers;  ///< [sentences, columns]

  std::size_t sentences() const { return columns == 0 ? 0 : numbers.size() / columns; }
  std::span<const double> of(std::size_t sentence) const {
    return std::span(numbers).subspan(sentence * columns, columns);
  }
  /// The columns summed in the order of the sentences.
  std::vector<double> sums() const;
};

/// A sample's score. sacreBLEU scores a corpus in Python's floats and samples of it in numpy's
/// 32-bit ones, so metrics compute both with one formula over either type.
struct SampleScore {
  double score = 0;
  /// numpy holds it in 32 bits. A score that no arithmetic made (0 where nothing matches) is
  /// Python's own.
  bool is_float32 = false;
};

}  // namespace attn
