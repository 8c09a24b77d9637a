// Word alignments out of cross-attention: which source word each target word was made from.
//
// Row t of a cross-attention map is the step that wrote token t, and so it is that token's row. The
// end symbol is linked to nothing, nor are other special symbols; words and their numbers are those
// of record/words.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/weight_matrix.h"
#include "record/attention_record.h"
#include "record/head_report.h"

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

}  // namespace attn
