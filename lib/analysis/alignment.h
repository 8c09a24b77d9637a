// Word alignments out of cross-attention: which source word each target word was made from.
//
// Row t of a cross-attention map is the step that wrote token t, and so it is that token's row. The
// end symbol is linked to nothing, nor are other special symbols; words and their numbers are those
// of record/words.h.
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

/// What an alignment is read from.
struct AlignmentMethod {
  enum class Source {
    best,     ///< the head of the highest `alignment` (analysis/head_statistics.h)
    average,  ///< the mean of all heads of all layers
    layer,    ///< the mean of one layer's heads
    head,     ///< one head
    read,     ///< one head, a word's row being the step that reads it (head_statistics.h)
    rollout,  ///< attention rollout (analysis/rollout.h)
  };
  Source from = Source::best;
  HeadIndex place = {};  ///< `layer` uses its layer, `head` and `read` both
};

/// Reads "best", "average", "rollout", "layer:LAYER", "cross:LAYER:HEAD"
/// or "read:LAYER:HEAD"; and as maps are named, "cross:best" (best), "cross:mean" (average) and
/// "cross:LAYER:mean" (layer:LAYER). UsageError naming the text and the forms there are.
AlignmentMethod parse_alignment_method(std::string_view text);

/// As parse_alignment_method() reads it.
std::string to_string(const AlignmentMethod& choice);

/// UsageError where the choice names a layer or head that the model's decoder does not have.
void check_alignment_method(const AlignmentMethod& choice, const ModelSummary& model);

/// `choice`, with "best" replaced by the report's best head. It stays "best" where no head was
/// ranked (no sentence with words on both sides).
AlignmentMethod resolve_best_head(const AlignmentMethod& choice, const HeadReport& report);

/// The weights that a choice other than `best` reads, by pieces, [L, S]. UsageError as in
/// check_alignment_method.
WeightMatrix alignment_weights(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                               const AlignmentMethod& choice);

struct AlignmentOptions {
  AlignmentMethod choice;
  /// Links beside each target word's strongest: all of at least this weight.
  std::optional<float> least;
};

/// The alignment of one hypothesis. "best" is, unless resolved before, the best head of this very
/// sentence. No links where there is no such hypothesis or no word on one of the sides.
/// InputError where the maps do not fit the tokens; UsageError as in check_alignment_method.
WordAlignment align(const AttentionRecord& record, std::size_t hypothesis,
                    const AlignmentOptions& options = {});

// From weights between words to links between them.

/// Each target word's strongest source word; the first of equals. With `least`, also every other
/// source word of at least that weight. `weights` is [target · source] of the same words. A target
/// word whose row is all 0 or holds anything but finite numbers is linked to nothing. Sorted by
/// source, then by target.
std::vector<AlignmentLink> extract_links(const WeightMatrix& weights,
                                         const std::vector<Word>& source,
                                         const std::vector<Word>& target,
                                         std::optional<float> least = std::nullopt);

// Word alignments of a line that was translated in parts.

/// The parts' links by the words of whole line and whole translation, as split at blanks: those of
/// hypothesis `ranks[i]` of record i, which has been aligned. The translations are joined as the
/// sources are, with the gaps of LinePart between.
WordAlignment line_alignment(std::span<const AttentionRecord> parts,
                             std::span<const std::size_t> ranks);

// What the analysis of a record's own maps adds to it, for the views.

struct AnnotationOptions {
  bool report = false;                        ///< the figures of every head
  std::optional<AlignmentOptions> alignment;  ///< a word alignment for each hypothesis
};

/// Puts them into the record. "best" is the best head of each hypothesis alone, unless the caller
/// has resolved it before. InputError and UsageError as align() and HeadStatistics have them.
void annotate(AttentionRecord& record, const AnnotationOptions& wanted);

}  // namespace attn
