// Answers "why this word?": translates a sentence, records the pass, and explains its words.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "record/word_receipt.h"
#include "service/field_text.h"
#include "translate/translator.h"
#include "why/why.h"

namespace attn {

/// A question about a sentence and its translation.
struct WhyQuestion {
  WhyMethods methods = {};                           ///< the receipt is always computed
  bool by_tokens = false;                            ///< entries are tokens instead of words
  bool page = false;                                 ///< WhyAnswer::record gets the receipts
  std::optional<std::string> target = std::nullopt;  ///< explained instead of a translation
  /// The written word to explain: its text, or the number of one of its tokens; empty: all words.
  std::string word = {};
  /// The word to compare with; empty: the runner-up. Without `word`, this is a whole translation
  /// in which one word differs.
  std::string instead = {};
  /// A source with words swapped, for activation patching; empty: none.
  std::string corrupt = {};
};

struct WhyAnswer {
  Why why;                 ///< of all tokens
  WordReceipts words;      ///< of the words in question
  AttentionRecord record;  ///< of the explained pass; for a page with `words` and measured maps
};

/// The model, and its translation settings.
struct WhyContext {
  const Translator& translator;
  const Transformer& model;  ///< the translator's only model
  const TranslationSettings& settings;
  /// Called before an answer that takes much memory; may be null.
  std::function<void(const FieldText&)> say = nullptr;
  KeptGradients* gradients = nullptr;  ///< null: every answer copies the weights for itself
};

/// Answers a question. Throws UsageError, naming the field, for words that do not occur and for
/// foils that equal the word or contain tokens outside the vocabulary; InputError for a sentence
/// without tokens, a target with more tokens than the model has positions, and what explain_words()
/// refuses; MemoryError if trace and results would not fit.
WhyAnswer answer_why(const WhyContext& context, const PreparedSentence& sentence,
                     const WhyQuestion& question);

/// The parts of a record that add_receipts() adds.
struct ReceiptDetail {
  bool maps = true;  ///< the maps that a page can show in the place of weights
  bool all = true;   ///< the receipts of all hypotheses, not only of the first
};

/// Adds the receipts of all words to the hypotheses of a record of the context's model, which is
/// run once more for each. Returns why a receipt cannot be computed exactly for this model; empty
/// if every hypothesis with tokens has one.
std::string add_receipts(const WhyContext& context, AttentionRecord& record,
                         ReceiptDetail detail = {});

/// Returns the bytes that an answer needs at most, including the attention maps of its record and
/// its text as JSON; saturates at 2⁶⁴ − 1.
std::uint64_t answer_bytes(const ModelConfig& config, const WhyMethods& methods,
                           std::size_t source_tokens, std::size_t steps);

}  // namespace attn
