// What was read out of attention maps: words, word alignments, and the figures of every head.
// Plain results; lib/analysis computes them, views write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/at.h"
#include "config/attention_site.h"

namespace attn {

/// A layer's head, both counted from 0.
struct HeadIndex {
  int layer = 0;
  int head = 0;
  bool operator==(const HeadIndex&) const = default;
};

enum class WordType {
  word,
  punctuation,  ///< nothing but punctuation: "," or "?!"
  special,      ///< no part of the sentence: "</s>", "<pad>", a language mark
};

/// Neighbouring pieces that belong together.
struct Word {
  std::string text;  ///< as the pieces spell it, without the mark of a word's beginning
  int first = 0;     ///< its first piece
  int count = 0;     ///< of pieces
  WordType type = WordType::word;
  /// Which of the text's words, split at blanks and counted from 0, it is or belongs to: "home" and
  /// "." of "home." share one; a language mark that stands alone counts, too. −1: none.
  int text_index = -1;
  bool operator==(const Word&) const = default;
};

/// Two words that stand for each other, by their numbers in the texts (Word::text_index).
struct AlignmentLink {
  int source = 0;
  int target = 0;
  float weight = 0;
  bool operator==(const AlignmentLink&) const = default;
};

/// Which source word each target word was made from.
struct WordAlignment {
  std::string from;                  ///< what it was read from: "cross:2:1", "average", "rollout"
  std::vector<Word> source;          ///< the words that can be linked, one a word of the text
  std::vector<Word> target;          ///< likewise
  std::vector<float> weights;        ///< [target · source], merged to words
  std::vector<AlignmentLink> links;  ///< by source, then by target
};

/// Links found, counted against links that people wrote. Och and Ney (2003), "A Systematic
/// Comparison of Various Statistical Alignment Models": A found links, S sure ones, P possible
/// ones, which include the sure ones.
struct GoldScore {
  std::size_t found = 0;           ///< |A|
  std::size_t sure = 0;            ///< |S|
  std::size_t found_sure = 0;      ///< |A ∩ S|
  std::size_t found_possible = 0;  ///< |A ∩ P|

  /// |A ∩ P| / |A|; nothing where no link was found.
  std::optional<float> precision() const { return ratio(found_possible, found); }
  /// |A ∩ S| / |S|; nothing where there are no sure links.
  std::optional<float> recall() const { return ratio(found_sure, sure); }
  /// The alignment error rate, 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): 0 is perfect, 1 all wrong.
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

/// One head's figures, means over all queries seen. A figure is absent where nothing defined it:
/// no sentence, or rows with a single key. Formulas: analysis/head_statistics.h.
struct HeadMetrics {
  std::optional<float> entropy;           ///< nats
  std::optional<float> distance;          ///< tokens of the key side
  std::optional<float> diagonality;       ///< 0 to 1
  std::optional<float> end_mass;          ///< 0 to 1; decoder: on the start symbol
  std::optional<float> punctuation_mass;  ///< 0 to 1
  // Cross-attention only:
  std::optional<float> alignment;       ///< 0 to 1; a word's row is the step that writes it
  std::optional<float> read_alignment;  ///< the same with the step that reads it, the next one
  std::optional<GoldScore> gold;        ///< where gold alignments were given
  std::optional<GoldScore> read_gold;   ///< likewise, with the step that reads the word

  /// Whether the head looks at the partner of the word that a step reads, and not of the one that
  /// it writes. A head that aligns what it writes has far less for the words it reads.
  bool aligns_what_it_reads() const {
    return alignment && read_alignment && *read_alignment > *alignment;
  }
};

/// Every head of one kind: [layer][head].
struct SiteReport {
  AttentionSite site = AttentionSite::cross;
  int layers = 0;
  int heads = 0;
  std::vector<HeadMetrics> metrics = {};  ///< layers · heads
  std::size_t queries = 0;                ///< rows counted in each head, but for the ones skipped

  const HeadMetrics& at(HeadIndex place) const {
    return attn::at(metrics, place.layer * heads + place.head);
  }
};

/// A way to align other than a single head ("average", "layer:2", "rollout"), against gold.
struct AlignmentChoiceScore {
  std::string choice;
  GoldScore score;
};

struct HeadReport {
  std::string model;          ///< its name, as in the records
  std::size_t sentences = 0;  ///< that held words
  /// Rows that held something other than finite numbers, over all heads; they count nowhere.
  std::size_t skipped_rows = 0;
  SiteReport encoder_self{.site = AttentionSite::encoder_self};
  SiteReport decoder_self{.site = AttentionSite::decoder_self};
  SiteReport cross{.site = AttentionSite::cross};
  /// Cross-attention's heads by `alignment`, the best first; after them those that align what they
  /// read.
  std::vector<HeadIndex> best;
  /// Where gold alignments were given: what is no single head, in the order layer:0 …, average,
  /// rollout.
  std::vector<AlignmentChoiceScore> gold_choices;
  std::size_t gold_pairs = 0;  ///< pairs compared with gold
  /// Pairs that could not be compared, because the model reads other words than the text has.
  std::size_t gold_skipped = 0;
};

/// Heads of cross-attention by `alignment`, the best first, equal ones in their order; then those
/// that align what they read, likewise. Heads without the figure are left out.
std::vector<HeadIndex> rank_by_alignment(const SiteReport& cross);

constexpr std::size_t kHighlightedHeads = 3;  ///< that views mark as aligning best

/// The first of them, at most kHighlightedHeads; heads that align what they read are not among
/// them.
std::vector<HeadIndex> best_heads(const SiteReport& cross);

}  // namespace attn
