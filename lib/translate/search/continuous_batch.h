// Searching many sentences in the same steps: the models' decoders (EnsembleDecoder), what one
// sentence does with the scores of its rows (SentenceSearch: greedy_search.cpp, beam_search.cpp),
// and the batch that sentences join and leave (ContinuousBatch).
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "model/incremental_decoder.h"
#include "translate/ensemble.h"
#include "translate/search/logits_processor.h"
#include "translate/search/search.h"

namespace attn {

/// A row of scores and its normalizer: normal(row[token]) is the log-probability after processing.
struct RowScores {
  std::span<float> row;  ///< [V]
  LogSoftmax normal;
};

/// The decoders of all models, over sentences that join and leave between steps.
class EnsembleDecoder {
 public:
  /// The observer is for the first model; null: no observer.
  explicit EnsembleDecoder(const Ensemble& ensemble, AttentionObserver* observer = nullptr);
  EnsembleDecoder(const EnsembleDecoder&) = delete;
  EnsembleDecoder& operator=(const EnsembleDecoder&) = delete;

  /// Encodes the sentences with each model and adds them, like IncrementalDecoder::add_sentences().
  /// If `encoded` is set, it replaces the first model's encoder.
  std::vector<Index> add_sentences(const PackedTokens& source, std::span<const SlotSize> sizes,
                                   const EncodedSource* encoded = nullptr);
  void remove_sentence(Index slot);

  /// Runs one step with one token for each hypothesis, like IncrementalDecoder::step().
  void step(std::span<const int> tokens, std::span<const Index> parents,
            std::span<const Index> slots);

  /// Returns hypotheses of the last step × tokens × models, the cost of scores() for all of them.
  Index size() const;

  /// Returns the scores of hypothesis `row` of the last step, which continues `context`. Call it
  /// once per row, on any thread.
  RowScores scores(const LogitsProcessor& processor, const LogitsContext& context, Index row);

 private:
  const Ensemble& ensemble_;
  AttentionObserver* observer_;
  std::deque<IncrementalDecoder> decoders_;  ///< a deque, so that elements do not move
  std::vector<MatrixRef> logits_;            ///< of the last step, [n, V] per model
};

// The search of one sentence, independent of other sentences in the decoder's steps: it knows its
// rows in a step, and chooses from their scores.

/// The search settings of one request's sentences.
struct SearchRules {
  /// Throws InputError like LogitsProcessor.
  SearchRules(const Ensemble& models, const DecodeConfig& decode);

  DecodeConfig decode;
  std::vector<int> ends;  ///< tokens that end a translation
  int start;              ///< the decoder's start token
  LogitsProcessor processor;
  std::string models;  ///< names of the models in messages

  /// Returns the number of hypotheses of a sentence that run side by side: beams, or sampled
  /// translations.
  Index hypotheses() const {
    return decode.sampling ? decode.num_return_sequences : decode.num_beams;
  }
};

/// Returns the bytes of keys, values and logits of a sentence in all models; nothing if they
/// exceed 64 bits.
std::optional<std::uint64_t> search_bytes(const SearchRules& rules, const Ensemble& models,
                                          Index source_length);

/// The rows of all sentences in a step: their tokens, the row of the previous step that each
/// continues, and its slot.
struct StepInput {
  std::vector<int> tokens;
  std::vector<Index> parents;
  std::vector<Index> slots;

  Index size() const { return std::ssize(tokens); }
  void clear() {
    tokens.clear();
    parents.clear();
    slots.clear();
  }
  void add(int token, Index parent, Index slot) {
    tokens.push_back(token);
    parents.push_back(parent);
    slots.push_back(slot);
  }
};

/// The rows of a sentence.
struct SentenceRows {
  Index slot = 0;
  Index first = 0;  ///< first of its rows in the previous step
};

class SentenceSearch {
 public:
  /// Searches for translations of at most `max_generated_tokens`. `rules` must outlive the search.
  SentenceSearch(const SearchRules& rules, std::span<const int> source, Index max_generated_tokens)
      : rules_(rules),
        source_(source.begin(), source.end()),
        max_generated_tokens_(max_generated_tokens) {}
  SentenceSearch(const SentenceSearch&) = delete;
  SentenceSearch& operator=(const SentenceSearch&) = delete;
  virtual ~SentenceSearch() = default;

  std::span<const int> source() const { return source_; }
  SlotSize size() const { return {rules_.hypotheses(), max_generated_tokens_}; }

  /// Adds the sentence's rows of the next step.
  virtual void add_rows(const SentenceRows& before, StepInput& rows) const = 0;
  /// Chooses the continuations of the sentence's rows, whose scores begin with the decoder's row
  /// `first`. Runs on any thread. Throws InputError for scores that are not finite, and like
  /// length_penalty_divisor().
  virtual void choose(EnsembleDecoder& decoder, Index first) = 0;
  virtual bool done() const = 0;
  /// Returns num_return_sequences hypotheses, best first. Throws InputError like
  /// hypothesis_score().
  virtual std::vector<SearchHypothesis> results() const = 0;

 protected:
  const SearchRules& rules() const { return rules_; }
  Index max_generated_tokens() const { return max_generated_tokens_; }
  LogitsContext context(std::span<const int> produced) const {
    return {produced, source_, rules_.start};
  }

 private:
  const SearchRules& rules_;
  std::vector<int> source_;
  Index max_generated_tokens_;
};

/// Returns a search with one beam, which takes the likeliest token at each step, or samples one
/// (Sampler in logits_processor.h). With sampling, several translations of a sentence run side by
/// side, and the results are sorted by score (greedy_search.cpp).
std::unique_ptr<SentenceSearch> greedy_search(const SearchRules& rules, std::span<const int> source,
                                              Index max_generated_tokens);

/// The record of a beam search's steps, and the number of the sentence in its batch; null: the
/// steps are not recorded.
struct BeamTrace {
  SearchTrace* trace = nullptr;
  Index sentence = 0;
};

/// Returns a search with `num_beams` hypotheses per sentence side by side (beam_search.cpp).
std::unique_ptr<SentenceSearch> beam_search(const SearchRules& rules, std::span<const int> source,
                                            Index max_generated_tokens,
                                            const BeamTrace& traced = {});

/// Returns a greedy search for one beam without a trace, and a beam search otherwise.
std::unique_ptr<SentenceSearch> sentence_search(const SearchRules& rules,
                                                std::span<const int> source,
                                                Index max_generated_tokens,
                                                const BeamTrace& traced = {});

// Searches that share the decoder's steps, and join and leave between them (continuous batching,
// Yu et al. 2022, "Orca"): each matrix multiplication of a step has the rows of all of them.

class ContinuousBatch {
 public:
  /// The observer is for the first model's encoder and steps; null: no observer.
  explicit ContinuousBatch(const Ensemble& models, AttentionObserver* observer = nullptr)
      : decoder_(models, observer) {}

  /// Encodes the sources of the searches, which take part from the next step on and must stay
  /// valid until they end or leave. `encoded` is the output of the first model's encoder for these
  /// sources, if it is already known. Throws MemoryError if there is no room; then none of them
  /// joins.
  void join(std::span<SentenceSearch* const> searches, const EncodedSource* encoded = nullptr);

  /// Removes a search whose result is no longer needed.
  void leave(const SentenceSearch& search);

  bool empty() const { return running_.empty(); }
  Index sentences() const { return std::ssize(running_); }
  /// Returns the maximum number of rows in the next step.
  Index hypotheses() const { return hypotheses_; }

  /// A search that is done, or that failed with an error of its own.
  struct FinishedSearch {
    SentenceSearch* search = nullptr;
    std::exception_ptr error;
  };

  /// Runs one step for all searches. Returns those that have ended with it, in the order in which
  /// they joined, and removes them.
  std::vector<FinishedSearch> step();

 private:
  struct Running {
    SentenceSearch* search = nullptr;
    SentenceRows place;
    std::exception_ptr error;
  };
  void release(const Running& one);

  EnsembleDecoder decoder_;
  std::vector<Running> running_;
  StepInput rows_;
  Index hypotheses_ = 0;
};

}  // namespace attn
