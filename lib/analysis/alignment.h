// Word alignments from cross-attention: which source word each target word was translated from.
//
// Row t of a cross-attention map belongs to token t, because its step wrote that token. The end
// symbol and other special symbols are not linked. Words and their numbers are those of
// record/words.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/weight_matrix.h"
#include "record/attention_record.h"
#include "record/head_report.h"
#include "record/words.h"

namespace attn {

/// The weights that an alignment is extracted from.
struct AlignmentMethod {
  enum class Source {
    best,     ///< the head with the highest `alignment` (analysis/head_statistics.h)
    average,  ///< the mean of all heads of all layers
    layer,    ///< the mean of one layer's heads
    head,     ///< one head
    read,     ///< one head, with the row of a word being the step that reads it (head_statistics.h)
    rollout,  ///< attention rollout (analysis/rollout.h)
  };
  Source from = Source::best;
  HeadIndex place = {};  ///< `layer` uses its layer; `head` and `read` use both
};

/// Parses "best", "average", "rollout", "layer:LAYER", "cross:LAYER:HEAD" or "read:LAYER:HEAD", and
/// the names of maps: "cross:best" (best), "cross:mean" (average) and "cross:LAYER:mean"
/// (layer:LAYER). Throws UsageError naming the text and the valid forms.
AlignmentMethod parse_alignment_method(std::string_view text);

/// Formats a method so that parse_alignment_method() can read it.
std::string to_string(const AlignmentMethod& choice);

/// Throws UsageError if the choice names a layer or head that the model's decoder does not have.
void check_alignment_method(const AlignmentMethod& choice, const ModelSummary& model);

/// Replaces "best" by the report's best head. It stays "best" if no head was ranked (no sentence
/// with words on both sides).
AlignmentMethod resolve_best_head(const AlignmentMethod& choice, const HeadReport& report);

/// Returns the token-level weights [L, S] that a choice other than `best` uses. Throws UsageError
/// like check_alignment_method().
WeightMatrix alignment_weights(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                               const AlignmentMethod& choice);

struct AlignmentOptions {
  AlignmentMethod choice;
  /// Also links pairs of at least this weight, besides the strongest one of each target word.
  std::optional<float> least;
};

/// Aligns one hypothesis. "best" is the best head of this sentence, unless it was resolved before.
/// Returns no links if there is no such hypothesis or one side has no words. Throws InputError if
/// the maps do not fit the tokens, and UsageError like check_alignment_method().
WordAlignment align(const AttentionRecord& record, std::size_t hypothesis,
                    const AlignmentOptions& options = {});

// Conversion of weights between words into links.

/// Links each target word to its strongest source word, the first if several are equal. With
/// `least`, also to every other source word of at least that weight. `weights` is [target, source]
/// over the same words. A target word is not linked if its row is all 0 or contains a non-finite
/// number. The links are sorted by source, then by target.
std::vector<AlignmentLink> extract_links(const WeightMatrix& weights,
                                         const std::vector<Word>& source,
                                         const std::vector<Word>& target,
                                         std::optional<float> least = std::nullopt);

// Word alignments of a line that was translated in parts.

/// Returns the parts' links numbered by the words of the whole line and the whole translation,
/// split at spaces. Uses hypothesis `ranks[i]` of record i, which must have an alignment. The
/// translations are joined like the sources, with the gaps of LinePart in between.
WordAlignment line_alignment(std::span<const AttentionRecord> parts,
                             std::span<const std::size_t> ranks);

// Results of the analysis that are added to a record for the views.

struct AnnotationOptions {
  bool report = false;                        ///< the metrics of every head
  std::optional<AlignmentOptions> alignment;  ///< a word alignment for each hypothesis
};

/// Adds the results to the record. "best" is the best head of each hypothesis on its own, unless
/// the caller has resolved it before. Throws InputError and UsageError like align() and
/// HeadStatistics.
void annotate(AttentionRecord& record, const AnnotationOptions& wanted);

}  // namespace attn
