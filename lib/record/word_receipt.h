// The receipt of each written word, summed by words for people: which source words, earlier target
// words and other parts of the model its logit came from. lib/why makes it (why/word_receipts.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/attention_maps.h"
#include "record/head_report.h"

namespace attn {

/// The amount that one word added to a logit, or to a difference of logits.
struct ReceiptEntry {
  std::string text;
  float value = 0;
};

/// A logit, or a difference of two, as the sum of its parts: `source`, `prefix` and rest().
struct ReceiptSum {
  std::vector<ReceiptEntry> source;  ///< by cross-attention, in the order of the sentence
  std::vector<ReceiptEntry> prefix;  ///< by self-attention and the embedding of the token just read
  float feed_forward = 0;
  float biases = 0;  ///< of projections, norms and the output
  float position = 0;

  float rest() const { return feed_forward + biases + position; }
  float total() const {
    float sum = rest();
    for (const ReceiptEntry& entry : source) sum += entry.value;
    for (const ReceiptEntry& entry : prefix) sum += entry.value;
    return sum;
  }
};

/// The token that was nearly written instead, or the one that the user asked about.
struct ReceiptFoil {
  int step = 0;      ///< index of the written token
  std::string word;  ///< the token that was written
  std::string text;  ///< the token that it is compared with
  bool given = false;
  ReceiptSum difference;  ///< logit(word) − logit(foil)
};

/// The decrease of a word's log-probability without a source word.
struct OcclusionEntry {
  std::string text;
  float drop = 0;
  float unk = 0;  ///< with <unk> in its place
};

struct WordReceipt {
  Word word;                                   ///< its tokens in the translation
  float log_prob = 0;                          ///< of the word: the sum over its tokens
  ReceiptSum logit;                            ///< the sum over its tokens
  ReceiptFoil foil;                            ///< at one of its tokens
  std::vector<OcclusionEntry> occlusion = {};  ///< empty if not requested
};

/// Other numbers for the cells of a site's weights. Maps without layers were not computed.
struct MeasuredMaps {
  AttentionMaps value;  ///< the length of what a head adds for a key (Kobayashi et al. 2020)
  AttentionMaps
      contribution;  ///< what that added to the logit of the token that the row's step writes
};

struct WordReceipts {
  std::string source_text;
  std::string target_text;
  std::vector<WordReceipt> words;
  std::vector<std::string> decoder_lens = {};  ///< the translation after each number of encoder
                                               ///< layers; empty if not requested
  MeasuredMaps encoder_self = {};
  MeasuredMaps decoder_self = {};
  MeasuredMaps cross = {};
};

}  // namespace attn
