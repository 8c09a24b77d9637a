// What each way around full attention gives up: put into a model that learned with full attention,
// for one sentence.
#pragma once

#include <string>
#include <vector>

#include "config/patterns/attention_pattern.h"
#include "explain/explain.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// Every kind but full, each cut to a sentence of so many tokens: a row sees about a quarter of
/// them.
std::vector<AttentionPattern> patterns_to_compare(int tokens);

/// Puts a kind into the encoder's full attention: weights become what the kind's amount to for the
/// same queries, keys and values. linformer, of which the model has no E and F, takes means of
/// neighbours; performer and lsh draw what they need from seed 1; of lsh, keys are the queries.
class SparsePatternObserver : public AttentionObserver {
 public:
  explicit SparsePatternObserver(const AttentionPattern& pattern) : pattern_(pattern) {}
  void weights_ready(AttentionHead& head) override;

 private:
  const AttentionPattern& pattern_;
};

/// What the translation becomes with a kind in every layer of the encoder.
struct PatternTranslation {
  std::string text;
  double log_prob = 0;  ///< of the exact translation, under the kind
};

struct PatternTranslations {
  PatternTranslation exact;
  std::vector<PatternTranslation> of;  ///< one a kind
};

/// For every kind and every head of the encoder, each head given what it reads under full
/// attention: the exact weights' mass that the kind misses, Σ_j max(0, exact − its weight), mean
/// of the rows; the error of the output, ‖its − exact‖ / ‖exact‖; the share of rows whose first key
/// stays first; and what the translation becomes. InputError where the encoder's attention is not
/// full, or the sentence is empty.
Explanation compare_patterns(const Transformer& model, const AttentionRecord& record,
                             const std::vector<AttentionPattern>& kinds,
                             const PatternTranslations& translations);

}  // namespace attn
