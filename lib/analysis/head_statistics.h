// What each head does, in a few numbers: over one sentence, or over all sentences of a file.
//
// With a the weights of one query's row over its S keys (in decoder self-attention: over the keys
// that it may see), each figure is the mean over all queries of all sentences added, special
// symbols' rows included:
//
//   entropy            −Σ_j a_j ln a_j                    0: all on one key; ln S: even
//   distance           Σ_j a_j d_j                        in tokens of the key side
//     self-attention   d_j = |i − j|
//     cross-attention  d_j = |(i + ½) S / L − (j + ½)|    from the diagonal of the L × S map
//   diagonality        1 − Σ_j a_j d_j / max_j d_j        Zhang et al. (2021), "On the Usefulness
//   of
//                                                         Self-Attention for Automatic Speech
//                                                         Recognition with Transformers"
//   end mass           Σ a_j over "</s>"; in decoder self-attention, which never reads the end
//                      symbol, over the start symbol
//   punctuation mass   Σ a_j over pieces of punctuation alone
//
// Rows with one key to see have no choice and do not count for diagonality. For cross-attention, on
// the map by words [T · S] of content words alone (no punctuation, no special symbols: what a row
// gives those is lost):
//
//   alignment          2 Σ_t Σ_s A[t][s] C[t][s] / (T + S),  C[t][s] = A[t][s] / Σ_t' A[t'][s]
//
// the mean, over the words of both sides, of the chance to come back: go from a target word to a
// source word by the head's weights A, and from there to a target word by the same weights seen
// from the source word, C; or the other way round. It is 1 where every word has one partner of its
// own, and small where a head is blunt, always looks at the same word, leaves words out, or rests
// on the end symbol. Over several sentences: the sum of all numerators over that of denominators.
//
// Some heads look at the partner of the word that a step reads, the last one written, rather than
// of the word that it writes (Kobayashi et al. 2020, "Attention is Not Only a Weight"; Chen et al.
// 2020, "Accurate Word Alignment Induction from Neural Machine Translation"). They align well, one
// row on, and `alignment` hardly tells, since a map one row on comes back as often. So the same is
// computed with each word's rows those of the steps that read it, as `read_alignment`. The two maps
// differ at their ends: a head that aligns what it writes has nothing to say to the row that writes
// the end symbol, and one that aligns what it reads has nothing to say to the row that reads the
// start symbol. A head whose `read_alignment` is higher is one that reads.
//
// Rows that hold anything but finite numbers count nowhere, nor do those of a head that an
// experiment has switched off, which hold zeros. A sentence without a word contributes
// nothing, and a translation without a word nothing to `alignment`.
#pragma once

#include <vector>

#include "analysis/pharaoh.h"
#include "analysis/weight_matrix.h"
#include "record/attention_record.h"
#include "record/head_report.h"
#include "record/words.h"

namespace attn {

/// The parts of `alignment`, which is 2 returns / words.
struct RoundTripProbability {
  double expected_returns = 0;  ///< Σ A C, the expected number of target words that come back
  std::size_t words = 0;        ///< T + S; target words whose row is not finite are left out
};
class HeadStatistics {
 public:
  /// Adds a sentence with one of its translations (and the encoder's maps: add a record once).
  /// InputError where its maps do not fit its tokens, or have other layers or heads than the
  /// records before.
  void add(const AttentionRecord& record, std::size_t hypothesis = 0);

  /// As above, and compares each cross-attention head's word alignment with gold. A pair whose
  /// pieces give other words than its texts have is not compared (HeadReport::gold_skipped).
  /// InputError where gold names a word that the texts do not have; `where` begins the message.
  void add(const AttentionRecord& record, std::size_t hypothesis, const GoldAlignment& gold,
           const std::string& where);

  /// The figures so far.
  HeadReport report() const;

 private:
  struct HeadMetricSums {
    double entropy = 0;
    double distance = 0;
    double diagonality = 0;
    double end = 0;
    double punctuation = 0;
    std::size_t rows = 0;          ///< that look at tokens
    std::size_t entropy_rows = 0;  ///< that look at anything
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
  /// What the keys of one map are.
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
  std::size_t sentences_ = 0;
  std::size_t skipped_rows_ = 0;
  std::vector<AlignmentChoiceScore> gold_choices_;
  std::size_t gold_pairs_ = 0;
  std::size_t gold_skipped_ = 0;
};

/// What one map by content words [T, S] adds to `alignment`.
RoundTripProbability round_trip_probability(const WeightMatrix& weights);

}  // namespace attn
