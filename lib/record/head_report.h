// Results of the analysis of attention maps: words, word alignments, and the metrics of every head.
// Plain data; lib/analysis computes it and views write it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/at.h"
#include "config/attention_site.h"

namespace attn {

enum class WordType {
  word,
  punctuation,  ///< punctuation only: "," or "?!"
  special,      ///< not a part of the sentence: "</s>", "<pad>", a language token
};

/// Adjacent tokens that form one word.
struct Word {
  std::string text;  ///< as its tokens spell it, without the word-boundary character
  int first = 0;     ///< index of its first token
  int count = 0;     ///< number of tokens
  WordType type = WordType::word;
  /// The word of the text that this is or belongs to, counted from 0 after splitting at spaces: the
  /// parts "home" and "." of "home." share one index. A language token that is separated by a space
  /// counts, too. −1 for none.
  int text_index = -1;
  bool operator==(const Word&) const = default;
};

/// A pair of words that correspond, by their indices in the texts (Word::text_index).
struct AlignmentLink {
  int source = 0;
  int target = 0;
  float weight = 0;
  bool operator==(const AlignmentLink&) const = default;
};

/// The source word from which each target word was translated.
struct WordAlignment {
  std::string from;  ///< the weights it was extracted from: "cross:2:1", "average", "rollout"
  std::vector<Word> source;          ///< the words that can be linked, one per word of the text
  std::vector<Word> target;          ///< same for the target
  std::vector<float> weights;        ///< [target, source], merged to words
  std::vector<AlignmentLink> links;  ///< sorted by source, then by target
};

/// Counts of found links compared with links annotated by people. Och and Ney (2003), "A Systematic
/// Comparison of Various Statistical Alignment Models": A are the found links, S the sure ones, and
/// P the possible ones, which include the sure ones.
struct GoldScore {
  std::size_t found = 0;           ///< |A|
  std::size_t sure = 0;            ///< |S|
  std::size_t found_sure = 0;      ///< |A ∩ S|
  std::size_t found_possible = 0;  ///< |A ∩ P|

  /// Returns |A ∩ P| / |A|; nullopt if no link was found.
  std::optional<float> precision() const { return ratio(found_possible, found); }
  /// Returns |A ∩ S| / |S|; nullopt if there are no sure links.
  std::optional<float> recall() const { return ratio(found_sure, sure); }
  /// Returns the alignment error rate, 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): 0 is perfect, 1 is
  /// all wrong.
  std::optional<float> error_rate() const {
    if (found + sure == 0) return std::nullopt;
    return static_cast<float>(1 - static_cast<double>(found_sure + found_possible) /
                                      static_cast<double>(found + sure));
  }

 private:
  static std::optional<float> ratio(std::size_t part, std::size_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
  }
};

/// The metrics of one head as means over all queries. A metric is absent if it is not defined: no
/// sentence, or only rows with a single key. Formulas: analysis/head_statistics.h.
struct HeadMetrics {
  std::optional<float> entropy;           ///< nats
  std::optional<float> distance;          ///< in tokens of the key side
  std::optional<float> diagonality;       ///< 0 to 1
  std::optional<float> end_mass;          ///< 0 to 1; on the start symbol in the decoder
  std::optional<float> punctuation_mass;  ///< 0 to 1
  // Only for cross-attention:
  std::optional<float> alignment;  ///< 0 to 1; a word's row is the step that writes it
  /// Same, with the step that reads the word (the next one).
  std::optional<float> read_alignment;
  std::optional<GoldScore> gold;       ///< if gold alignments were given
  std::optional<GoldScore> read_gold;  ///< same, with the step that reads the word

  /// True if the head looks at the partner of the word that a step reads, not of the one that it
  /// writes. A head that aligns what it writes has a much lower read_alignment.
  bool aligns_what_it_reads() const {
    return alignment && read_alignment && *read_alignment > *alignment;
  }
};

/// All heads of one attention site: [layer][head].
struct SiteReport {
  AttentionSite site = AttentionSite::cross;
  int layers = 0;
  int heads = 0;
  std::vector<HeadMetrics> metrics = {};        ///< [layers, heads]
  std::size_t queries = 0;                      ///< rows counted per head, without the skipped ones
  std::vector<HeadIndex> alignment_heads = {};  ///< those that the model names (ModelSummary)

  const HeadMetrics& at(HeadIndex place) const {
    return attn::at(metrics, place.layer * heads + place.head);
  }
};

/// The gold score of an alignment that does not come from a single head ("average", "layer:2",
/// "rollout").
struct AlignmentChoiceScore {
  std::string choice;
  GoldScore score;
};

struct HeadReport {
  std::string model;          ///< as in the records
  std::size_t sentences = 0;  ///< sentences that contain words
  /// Rows with non-finite numbers, over all heads; they are not counted in any metric.
  std::size_t skipped_rows = 0;
  SiteReport encoder_self{.site = AttentionSite::encoder_self};
  SiteReport decoder_self{.site = AttentionSite::decoder_self};
  SiteReport cross{.site = AttentionSite::cross};
  /// The cross-attention heads as rank_by_alignment() orders them.
  std::vector<HeadIndex> best;
  /// If gold alignments were given: the alignments that do not come from a single head, in the
  /// order layer:0 …, average, rollout.
  std::vector<AlignmentChoiceScore> gold_choices;
  std::size_t gold_pairs = 0;  ///< pairs compared with gold
  /// Pairs that could not be compared, because the model's words differ from those of the text.
  std::size_t gold_skipped = 0;
};

/// Returns the cross-attention heads by `alignment`, best first and stable, followed by those that
/// align what they read, in the same order. The heads that the model names come before all others.
/// Heads without the metric are left out.
std::vector<HeadIndex> rank_by_alignment(const SiteReport& cross);

/// Number of best-aligning heads that views highlight.
constexpr std::size_t kHighlightedHeads = 3;

/// Returns the first kHighlightedHeads of rank_by_alignment(), without heads that align what they
/// read.
std::vector<HeadIndex> best_heads(const SiteReport& cross);

}  // namespace attn
