// Translation edit rate (Snover et al., 2006), equal to sacreBLEU's reading of Tercom.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/metric.h"

namespace attn {

struct TerScore {
  double score =
      0;  ///< edits of 100 words of reference: lower is better, and above 100 is possible
  double edits = 0;             ///< insertions, deletions, substitutions and shifts
  double reference_length = 0;  ///< words; of several references their mean
};

/// Of each sentence: its edits, against the reference that needs fewest, and the references' mean
/// length. Words stand between spaces, and case never counts, as in sacreBLEU by default. Texts are
/// UTF-8; std::invalid_argument unless there are references, each set with as many sentences as
/// `hypotheses`, at least one.
SentenceStatistics ter_counts(std::span<const std::string> hypotheses, References references);

/// The score of summed counts.
TerScore ter_from_counts(std::span<const double> sums);

/// The score of a sample's counts, in the precision in which sacreBLEU computes it.
SampleScore ter_from_sample(std::span<const double> sums);

/// Both in one; errors as ter_counts().
TerScore corpus_ter(std::span<const std::string> hypotheses, References references);

/// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:attn-demo-0.1.0".
std::string ter_signature(const SignatureOptions& facts = {});

// The edits that turn a hypothesis's words into its reference's, for TER.

/// Words as numbers, equal ones for equal words.
using WordIds = std::vector<int>;

enum class Edit : char { none, keep, substitute, insert, remove };

struct EditPath {
  int edits = 0;
  std::vector<Edit> steps;  ///< from the first words on; insert: a word of the reference alone
};

/// The cheapest edits, each of cost 1 (Levenshtein 1966), looked for in a band of 25 words about
/// the diagonal as sacreBLEU does, so that the ways it takes among equals are the same.
EditPath edit_path(const WordIds& hypothesis, const WordIds& reference);

}  // namespace attn
