// The loss of each sparse pattern compared with full attention, for one sentence, when it replaces
// full attention in a trained model.
#pragma once

#include <string>
#include <vector>

#include "config/patterns/attention_pattern.h"
#include "explain/explain.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// Returns every pattern except full, sized for a sentence of `tokens` tokens so that a row sees
/// about a quarter of them.
std::vector<AttentionPattern> patterns_to_compare(int tokens);

/// Puts a pattern into the encoder's full attention: the weights are replaced by those that the
/// pattern gives for the same queries, keys and values. linformer has no learned E and F in this
/// model and uses means of neighboring tokens; performer and lsh draw their random numbers from
/// seed 1; for lsh the queries also serve as keys.
class SparsePatternObserver : public AttentionObserver {
 public:
  explicit SparsePatternObserver(const AttentionPattern& pattern) : pattern_(pattern) {}
  void weights_ready(AttentionHead& head) override;

 private:
  const AttentionPattern& pattern_;
};

/// The translation with a pattern in every encoder layer.
struct PatternTranslation {
  std::string text;
  double log_prob = 0;  ///< of the exact translation, under the pattern
};

struct PatternTranslations {
  PatternTranslation exact;
  std::vector<PatternTranslation> of;  ///< one per pattern
};

/// Compares every pattern in every encoder head, where each head gets the input that it has under
/// full attention. Reports the mass of exact weights that the pattern misses, Σ_j max(0, exact −
/// its weight), as the mean over the rows; the error of the output, ‖its − exact‖ / ‖exact‖; the
/// share of rows whose strongest key stays the same; and the translation under the pattern. Throws
/// InputError if the encoder's attention is not full or the sentence is empty.
Explanation compare_patterns(const Transformer& model, const AttentionRecord& record,
                             const std::vector<AttentionPattern>& kinds,
                             const PatternTranslations& translations);

}  // namespace attn
