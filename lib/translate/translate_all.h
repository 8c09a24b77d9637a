// Translating many sentences at once: a test set, a dev part.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "translate/translator.h"

namespace attn {

/// How far translate_all() has come.
struct TranslationProgress {
  std::size_t sentences = 0;
  double fraction = 0;  ///< of all source tokens
};

/// The best translation of each sentence, in the order of the sentences. Those of like length are
/// translated together, `batch` at a time, so that none waits for a much longer one; the longest
/// come first, so that too large a batch fails at once. `go_on` is asked after each batch: false
/// gives nothing.
std::optional<std::vector<Translation>> translate_all(
    const Translator& translator, std::vector<PreparedSentence> sentences, std::size_t batch,
    const std::function<bool(const TranslationProgress&)>& go_on);

}  // namespace attn
