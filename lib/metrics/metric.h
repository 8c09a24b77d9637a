// Per-sentence counts of a metric, from which samples of the sentences can be scored again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Reference translations: one list of lines per set of references.
using References = std::span<const std::vector<std::string>>;

/// Per-sentence numbers; the score of a corpus is computed from their sums.
struct SentenceStatistics {
  std::size_t columns = 0;
  std::vector<double> numbers;  ///< [sentences, columns]

  std::size_t sentences() const { return columns == 0 ? 0 : numbers.size() / columns; }
  std::span<const double> of(std::size_t sentence) const {
    return std::span(numbers).subspan(sentence * columns, columns);
  }
  /// Sums the columns in the order of the sentences.
  std::vector<double> sums() const;
};

/// The score of a sample. sacreBLEU scores a corpus with Python's floats and samples with numpy's
/// 32-bit floats, so metrics compute both with one formula templated on the type.
struct SampleScore {
  double score = 0;
  /// True if numpy holds the score in 32 bits. A score that is not computed (0 if nothing matches)
  /// is a Python float.
  bool is_float32 = false;
};

// The part of a signature that all metrics share.

/// The number of bootstrap samples and the seed (metrics/bootstrap.h).
struct Resampling {
  std::size_t samples = 1000;
  std::uint64_t seed = 12345;  ///< sacreBLEU's default
};

struct SignatureOptions {
  std::size_t references = 1;  ///< number of reference sets
  std::optional<Resampling> resampling;
};

/// Returns "nrefs:1|case:mixed|…|version:attn-demo-0.2.0", with "bs:1000|seed:12345" after the
/// references if samples were drawn. `metric` is the metric's own part.
std::string signature(const SignatureOptions& facts, std::string_view metric);

}  // namespace attn
