// Translation edit rate (Snover et al., 2006), as sacreBLEU implements Tercom.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/metric.h"

namespace attn {

struct TerScore {
  /// Edits per 100 reference words; lower is better, and more than 100 is possible.
  double score = 0;
  double edits = 0;             ///< insertions, deletions, substitutions and shifts
  double reference_length = 0;  ///< in words; the mean if there are several references
};

/// For each sentence, counts the edits to the closest reference, and the mean length of the
/// references. Words are separated by spaces and case is ignored, as in sacreBLEU by
/// default. Texts are UTF-8. Throws std::invalid_argument unless there are references, and each set
/// has as many sentences as `hypotheses`, at least one.
SentenceStatistics ter_counts(std::span<const std::string> hypotheses, References references);

/// Computes the score from summed counts.
TerScore ter_from_counts(std::span<const double> sums);

/// Computes the score of a sample in the precision that sacreBLEU uses.
SampleScore ter_from_sample(std::span<const double> sums);

/// Counts and scores in one step; throws like ter_counts().
TerScore corpus_ter(std::span<const std::string> hypotheses, References references);

/// Returns the signature
/// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:attn-demo-0.2.0".
std::string ter_signature(const SignatureOptions& facts = {});

// The edits that turn the words of a hypothesis into those of its reference.

/// Words as numbers; equal words have equal numbers.
using WordIds = std::vector<int>;

enum class Edit : char { none, keep, substitute, insert, remove };

struct EditPath {
  int edits = 0;
  std::vector<Edit> steps;  ///< in order of the words; insert adds a word of the reference
};

/// Returns the cheapest edits, each of cost 1 (Levenshtein 1966), searched in a band of 25 words
/// around the diagonal. This equals sacreBLEU's search, so the same path wins among equal ones.
EditPath edit_path(const WordIds& hypothesis, const WordIds& reference);

}  // namespace attn
