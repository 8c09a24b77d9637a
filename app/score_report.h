// What `evaluate` found, for people and for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/decode_config.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace attn {

/// How the hypotheses were made, where a model made them.
struct TranslationRun {
  std::string model;
  std::optional<std::uint64_t> seed;  ///< of random weights
  DecodeConfig decode;
  std::size_t tokens = 0;  ///< produced, end symbols included
  double seconds = 0;      ///< searching and tokenizing, without loading the model
  double tokens_per_second() const;
};

struct ScoreReport {
  std::string source, hypotheses, target;  ///< files as named by the user; absent ones are empty
  std::size_t sentences = 0;
  bool lowercase = false;
  BleuScore bleu;
  ChrfScore chrf;
  std::optional<TranslationRun> run;
};

/// Scores hypotheses against references, one of each a sentence.
void score(ScoreReport& report, const std::vector<std::string>& hypotheses,
           const std::vector<std::string>& references);

/// Two lines of score and signature, then the parts of BLEU.
std::string score_text(const ScoreReport& report);

/// One object with every number unrounded.
Json score_json(const ScoreReport& report);

}  // namespace attn
