// The results of `evaluate`: plain data for the views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/attention_site.h"

namespace attn {

/// BLEU of a corpus, computed by metrics/bleu.h.
struct BleuReport {
  double score = 0;                    ///< 0 to 100
  std::string signature;               ///< describes the computation
  std::vector<double> precisions;      ///< 0 to 100, for 1- to 4-grams
  std::vector<std::uint64_t> correct;  ///< matching n-grams, for 1- to 4-grams
  std::vector<std::uint64_t> total;
  double brevity_penalty = 0;
  std::uint64_t hypothesis_length = 0;  ///< in tokens
  std::uint64_t reference_length = 0;
  double length_ratio = 0;
};

/// chrF2 or chrF2++ of a corpus, computed by metrics/chrf.h.
struct ChrfReport {
  double score = 0;       ///< 0 to 100
  std::string signature;  ///< describes the computation
  double precision = 0;   ///< 0 to 1
  double recall = 0;
};

/// TER of a corpus, computed by metrics/ter.h.
struct TerReport {
  double score = 0;       ///< edits per 100 words; lower is better
  std::string signature;  ///< describes the computation
  double edits = 0;
  double reference_length = 0;  ///< in words
};

/// A score with its bootstrap statistics: the mean of the samples and half the width of their 95%
/// interval.
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
  std::string against;  ///< the file with the other system's translations
  std::size_t samples = 0;
  std::uint64_t seed = 0;
  std::vector<PairedScore> scores;
};

/// The run that made the hypotheses, if a model made them.
struct TranslationRun {
  std::string model;
  std::optional<std::uint64_t> seed;  ///< for random weights
  int beams = 1;
  float length_penalty = 1;
  std::string early_stopping;     ///< "false", "true" or "never"
  std::optional<int> max_length;  ///< in produced tokens; nullopt for the model's own limit
  std::size_t tokens = 0;         ///< number produced, including end symbols
  double seconds = 0;             ///< for searching and tokenizing, without loading the model
  /// The precision of matrix multiplications with weights: "float32", "bfloat16" or "int8".
  std::string precision = "float32";

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
  }
};

struct ScoreReport {
  std::string source, hypotheses;    ///< files as named by the user; empty if absent
  std::vector<std::string> targets;  ///< files, one per set of references
  std::size_t sentences = 0;
  BleuReport bleu;
  ChrfReport chrf;
  ChrfReport chrf_words;  ///< chrF2++
  TerReport ter;
  std::optional<PairedReport> paired;
  std::optional<TranslationRun> run;
};

// The importance of each head for the references: plain data for the views.

struct HeadImportance {
  AttentionSite site = AttentionSite::encoder_self;
  int layer = 0;
  int head = 0;
  /// Mean natural log-probability per target token with this head switched off.
  double log_prob = 0;
};

struct HeadImportanceReport {
  std::size_t pairs = 0;              ///< number of sentence pairs
  std::size_t tokens = 0;             ///< tokens of the references, including end symbols
  double log_prob = 0;                ///< mean per token with all heads
  std::vector<HeadImportance> heads;  ///< the most important one first
};

}  // namespace attn
