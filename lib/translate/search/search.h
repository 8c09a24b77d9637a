// Searches for translations: greedy search, beam search and sampling over a batch, with the
// semantics of transformers' `generate`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "model/transformer.h"
#include "translate/ensemble.h"

namespace attn {

struct SearchHypothesis {
  std::vector<int> ids;  ///< produced tokens; ends with the end symbol if the hypothesis ended
  /// Sum of the processed log-probabilities (a forced token counts 0) divided by
  /// length ^ length_penalty, where length is ids.size().
  float score = 0;
};

/// Receives each step of a search. The view of a beam tree and its tests use it.
class SearchTrace {
 public:
  struct Candidate {
    Index parent = 0;  ///< row of the previous step, within the sentence
    int token = 0;
    float log_prob = 0;  ///< accumulated
    bool ended = false;
    bool kept = false;  ///< continues in the next step
  };
  virtual ~SearchTrace() = default;
  /// Receives the candidates of one sentence at one step, best first.
  virtual void step(Index sentence, Index step, std::span<const Candidate> candidates) = 0;
};

/// A term that a translation must contain.
struct SentenceTerm {
  std::string name;                     ///< as the user gave it: "house=Haus"
  std::vector<std::vector<int>> forms;  ///< one of these sequences of tokens
  int times = 1;                        ///< at this many different positions
  /// True if the token `next` continues the last word of the form ("at" after "Heim"), so that the
  /// form is not a word there. Empty: no token does.
  std::function<bool(const std::vector<int>& form, int next)> continues = nullptr;
};
using SentenceTerms = std::vector<SentenceTerm>;

/// Optional inputs of a search besides its sentences and settings.
struct SearchContext {
  SearchTrace* trace = nullptr;
  AttentionObserver* observer = nullptr;  ///< of the first model, in its encoder and in each step
  /// The client that sent the request. A Searcher that serves several clients lets them take
  /// turns; 0: each request is a client of its own.
  std::uint64_t client = 0;
  const std::atomic<bool>* stop = nullptr;  ///< another thread sets it to end the search
  /// The first model's encoder output, if it has been computed; only for a batch of one sentence.
  /// Must outlive the search.
  const EncodedSource* encoded = nullptr;
  /// Number of sentences that share the decoder's steps. If there are more, the next one joins
  /// when one has ended, so none waits for the longest of its batch. 0: all of them.
  Index max_active = 0;
  /// The terms of each sentence of the batch; empty: there are none. Every sentence with terms is
  /// searched by term_search.h.
  std::span<const SentenceTerms> terms = {};
};

/// Thrown by a search at the first step after SearchContext::stop was set.
struct SearchStopped {};

inline void throw_if_stopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw SearchStopped();
}

/// Hypotheses of each sentence of a batch, best first.
using SearchResults = std::vector<std::vector<SearchHypothesis>>;

/// Runs searches for several callers, with the results of search(). SearchQueue is one that
/// searches the sentences of several requests in the same steps.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// `context` has neither trace nor observer.
  virtual SearchResults search(const PackedTokens& source, const DecodeConfig& decode,
                               const SearchContext& context) = 0;
};

/// Returns the most tokens that a translation of a source of `source_length` tokens may have,
/// including the end symbol: max_new_tokens or, without it, 2 · source + 10; never more than the
/// decoder's positions.
Index max_generated_tokens(const DecodeConfig& decode, const Ensemble& models, Index source_length);

/// Returns the token that the decoder starts with.
int decoder_start_token(const DecodeConfig& decode, const ModelConfig& model);

/// Returns length ^ length_penalty, by which a hypothesis's sum is divided. Throws InputError if
/// that is 0 or infinite as a float, so that scores could not be compared.
float length_penalty_divisor(Index length, float length_penalty);

/// Throws InputError if a result's score is infinite or not a number.
void require_finite_score(float score, float length_penalty);

/// Returns sum / length ^ length_penalty, checked by both functions above.
float hypothesis_score(float sum, std::size_t length, float length_penalty);

/// Returns num_return_sequences hypotheses for each sentence of the batch, best first. With several
/// threads or a limit of active sentences, the longest are searched first. One beam means greedy
/// search, as in `generate` (with a trace, a beam search with one beam, which finds the same). With
/// several models, the mean of their log-probabilities decides (translate/ensemble.h).
SearchResults search(const Ensemble& models, const PackedTokens& source, const DecodeConfig& decode,
                     const SearchContext& context = {});

}  // namespace attn
