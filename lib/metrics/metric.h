// What a metric counts of each sentence, so that samples of the sentences can be scored again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// What a score's signature says of every metric.

/// How often and from which seed sentences are drawn again (metrics/bootstrap.h).
struct Resampling {
  std::size_t samples = 1000;
  std::uint64_t seed = 12345;  ///< sacreBLEU's
};

struct SignatureOptions {
  std::size_t references = 1;  ///< sets of them
  std::optional<Resampling> resampling;
};

/// "nrefs:1|case:mixed|…|version:attn-demo-0.1.0", with "bs:1000|seed:12345" behind the references
/// where sentences were drawn again. `metric` is what the metric says of itself.
std::string signature(const SignatureOptions& facts, std::string_view metric);

}  // namespace attn
