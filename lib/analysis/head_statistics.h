// Metrics that summarize what each head does, over one sentence or over all sentences of a file.
//
// Let a be the weights of one query's row over its S keys (in decoder self-attention: over the keys
// that it may see). Each metric is the mean over all queries of all added sentences, including the
// rows of special symbols:
//
//   entropy            −Σ_j a_j ln a_j                    0: all on one key; ln S: uniform
//   distance           Σ_j a_j d_j                        in tokens of the key side
//     self-attention   d_j = |i − j|
//     cross-attention  d_j = |(i + ½) S / L − (j + ½)|    from the diagonal of the L × S map
//   diagonality        1 − Σ_j a_j d_j / max_j d_j        (Zhang et al. 2021)
//   end mass           Σ a_j over "</s>"; over the start symbol in decoder self-attention,
//                      which never reads the end symbol
//   punctuation mass   Σ a_j over tokens that consist of punctuation only
//
// Diagonality is defined in "On the Usefulness of Self-Attention for Automatic Speech Recognition
// with Transformers". Rows with a single visible key have no choice and do not count for it. For
// cross-attention there is also a metric on the word-level map [T, S] of content words only (no
// punctuation and no special symbols; the weight on those is dropped):
//
//   alignment          2 Σ_t Σ_s A[t][s] C[t][s] / (T + S),  C[t][s] = A[t][s] / Σ_t' A[t'][s]
//
// It is the mean probability, over the words of both sides, of a successful round trip: go from a
// target word to a source word by the head's weights A, and from there back to a target word by the
// same weights as seen from the source word, C; or the other way round. It is 1 if every word has
// exactly one partner. It is small if a head is diffuse, always looks at the same word, leaves
// words out, or rests on the end symbol. Over several sentences it is the sum of all numerators
// over the sum of all denominators.
//
// Some heads look at the partner of the word that a step reads (the last one written) instead of
// the word that it writes (Kobayashi et al. 2020, "Attention is Not Only a Weight"; Chen et al.
// 2020, "Accurate Word Alignment Induction from Neural Machine Translation"). Their alignments are
// good but shifted by one row. `alignment` hardly shows that, because a shifted map has nearly the
// same round trips. `read_alignment` is therefore the same metric with the rows of each word being
// the steps that read it. The two maps differ at their ends: for a head that aligns what it writes,
// the row that writes the end symbol has no partner, and for a head that aligns what it reads, the
// row that reads the start symbol has none. A head whose `read_alignment` is higher aligns what it
// reads.
//
// Rows with non-finite numbers are not counted, nor are those of a head that an experiment has
// switched off, which are all 0. A sentence without words contributes nothing, and a translation
// without words contributes nothing to `alignment`.
#pragma once

#include <vector>

#include "analysis/pharaoh.h"
#include "analysis/weight_matrix.h"
#include "record/attention_record.h"
#include "record/head_report.h"
#include "record/words.h"

namespace attn {

/// The parts of `alignment`, which is 2 · expected_returns / words.
struct RoundTripProbability {
  double expected_returns = 0;  ///< Σ A C: round trips from target words
  std::size_t words = 0;        ///< T + S, without target words whose row is not finite
};
class HeadStatistics {
 public:
  /// Adds a sentence with one of its translations. This includes the encoder's maps, so add each
  /// record only once. Throws InputError if the maps do not fit the tokens, or if their layers or
  /// heads differ from those of earlier records.
  void add(const AttentionRecord& record, std::size_t hypothesis = 0);

  /// Same, and compares each cross-attention head's word alignment with gold. A pair is skipped if
  /// its tokens give other words than its texts contain (HeadReport::gold_skipped). Throws
  /// InputError, beginning with `where`, if gold names a word that the texts do not have.
  void add(const AttentionRecord& record, std::size_t hypothesis, const GoldAlignment& gold,
           const std::string& where);

  /// Returns the metrics so far.
  HeadReport report() const;

 private:
  struct HeadMetricSums {
    double entropy = 0;
    double distance = 0;
    double diagonality = 0;
    double end = 0;
    double punctuation = 0;
    std::size_t rows = 0;          ///< with weight on tokens
    std::size_t entropy_rows = 0;  ///< with any weight
    std::size_t rows_with_choice = 0;
    RoundTripProbability written;  ///< by the steps that write a word
    RoundTripProbability read;     ///< by the steps that read it
    GoldScore gold;
    GoldScore read_gold;
  };
  struct SiteSums {
    int layers = 0;
    int heads = 0;
    std::size_t queries = 0;
    std::vector<HeadMetricSums> sums;  ///< [layer][head]
  };
  /// Properties of the keys of one map.
  struct KeyTraits {
    bool causal = false;
    std::vector<bool> end;
    std::vector<bool> punctuation;
  };

  void add_maps(AttentionSite site, const AttentionMaps& maps, const KeyTraits& keys);
  void add_row(HeadMetricSums& sums, std::span<const float> row, int query,
               const AttentionMaps& maps, const KeyTraits& keys);
  void add_alignment(const AttentionMaps& cross, const RecordWords& words);
  void add_gold(const AttentionRecord& record, const HypothesisRecord& hypothesis,
                const RecordWords& words, const GoldAlignment& gold);
  SiteReport report_of(AttentionSite site) const;

  SiteSums sites_[3];  ///< by AttentionSite
  std::string model_;
  std::vector<HeadIndex> alignment_heads_;  ///< of the model
  std::size_t sentences_ = 0;
  std::size_t skipped_rows_ = 0;
  std::vector<AlignmentChoiceScore> gold_choices_;
  std::size_t gold_pairs_ = 0;
  std::size_t gold_skipped_ = 0;
};

/// Returns the contribution of one map over content words [T, S] to `alignment`.
RoundTripProbability round_trip_probability(const WeightMatrix& weights);

/// Throws InputError, beginning with `where`, if gold names a word that the texts do not have.
void check_gold(const GoldAlignment& gold, const RecordWords& words, const std::string& where);

}  // namespace attn
