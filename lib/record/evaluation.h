// What `evaluate` found: plain data for the views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/attention_site.h"

namespace attn {

/// BLEU of a corpus, as metrics/bleu.h counts it.
struct BleuReport {
  double score = 0;                    ///< 0 to 100
  std::string signature;               ///< how it was counted
  std::vector<double> precisions;      ///< 0 to 100, of 1- to 4-grams
  std::vector<std::uint64_t> correct;  ///< n-grams, likewise
  std::vector<std::uint64_t> total;
  double brevity_penalty = 0;
  std::uint64_t hypothesis_length = 0;  ///< tokens
  std::uint64_t reference_length = 0;
  double length_ratio = 0;
};

/// chrF2 or chrF2++ of a corpus, as metrics/chrf.h counts it.
struct ChrfReport {
  double score = 0;       ///< 0 to 100
  std::string signature;  ///< how it was counted
  double precision = 0;   ///< 0 to 1
  double recall = 0;
};

/// TER of a corpus, as metrics/ter.h counts it.
struct TerReport {
  double score = 0;       ///< edits of 100 words; lower is better
  std::string signature;  ///< how it was counted
  double edits = 0;
  double reference_length = 0;  ///< words
};

/// A score with what samples of the sentences say of it: their mean, ± what 95% of them keep to.
struct SampledScore {
  double score = 0;
  double mean = 0;
  double half_width = 0;
};

/// One metric of two systems.
struct PairedScore {
  std::string metric;  ///< BLEU, chrF2, chrF2++ or TER
  SampledScore system, against;
  double p_value = 1;
};

/// A paired bootstrap (metrics/bootstrap.h).
struct PairedReport {
  std::string against;  ///< file of the other system's translations
  std::size_t samples = 0;
  std::uint64_t seed = 0;
  std::vector<PairedScore> scores;
};

/// How the hypotheses were made, where a model made them.
struct TranslationRun {
  std::string model;
  std::optional<std::uint64_t> seed;  ///< of random weights
  int beams = 1;
  float length_penalty = 1;
  std::string early_stopping;         ///< "false", "true" or "never"
  std::optional<int> max_length;      ///< produced tokens; nothing: the model's own limit
  std::size_t tokens = 0;             ///< produced, end symbols included
  double seconds = 0;                 ///< searching and tokenizing, without loading the model
  std::string precision = "float32";  ///< of the products with weights; "bfloat16", "int8"

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
  }
};

struct ScoreReport {
  std::string source, hypotheses;    ///< files as named by the user; absent ones are empty
  std::vector<std::string> targets;  ///< likewise, one a set of references
  std::size_t sentences = 0;
  BleuReport bleu;
  ChrfReport chrf;
  ChrfReport chrf_words;  ///< chrF2++
  TerReport ter;
  std::optional<PairedReport> paired;
  std::optional<TranslationRun> run;
};

// What each head is worth to the references: plain data for the views.

struct HeadImportance {
  AttentionSite site = AttentionSite::encoder_self;
  int layer = 0;
  int head = 0;
  double log_prob = 0;  ///< natural, a target token on average, with this head switched off
};

struct HeadImportanceReport {
  std::size_t pairs = 0;              ///< of sentences
  std::size_t tokens = 0;             ///< of the references, end symbols included
  double log_prob = 0;                ///< a token on average, with all heads
  std::vector<HeadImportance> heads;  ///< the one that is missed most first
};

}  // namespace attn
