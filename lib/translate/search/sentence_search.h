// The search of one sentence, whatever else the decoder's steps carry: which rows it has in a step,
// and what it chooses from their scores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "translate/search/continuous_batch.h"
#include "translate/search/logits_processor.h"
#include "translate/search/search.h"

namespace attn {

/// How sentences of one request are searched.
struct SearchRules {
  /// InputError as LogitsProcessor.
  SearchRules(const Ensemble& models, const DecodeConfig& decode);

  DecodeConfig decode;
  std::vector<int> ends;  ///< tokens that end a translation
  int start;              ///< what the decoder begins with
  LogitsProcessor processor;
  std::string models;  ///< what messages call them

  /// Hypotheses of a sentence side by side: beams, or translations that are drawn.
  Index hypotheses() const {
    return decode.sampling ? decode.num_return_sequences : decode.num_beams;
  }
};

/// Bytes of keys, values and logits of a sentence in all models; nothing where those leave 64 bits.
std::optional<std::uint64_t> search_bytes(const SearchRules& rules, const Ensemble& models,
                                          Index source_length);

/// Rows of all sentences of a step: their tokens, which row of the step before each continues, and
/// whose slot it has.
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

/// Where a sentence stands among the rows.
struct SentenceRows {
  Index slot = 0;
  Index first = 0;  ///< of its rows in the step before
};

class SentenceSearch {
 public:
  /// What it searches for has at most `max_generated_tokens`. `rules` outlive it.
  SentenceSearch(const SearchRules& rules, std::span<const int> source, Index max_generated_tokens)
      : rules_(rules), source_(source.begin(), source.end()), max_generated_tokens_(max_generated_tokens) {}
  SentenceSearch(const SentenceSearch&) = delete;
  SentenceSearch& operator=(const SentenceSearch&) = delete;
  virtual ~SentenceSearch() = default;

  std::span<const int> source() const { return source_; }
  SlotSize size() const { return {rules_.hypotheses(), max_generated_tokens_}; }

  /// Adds its rows of the next step.
  virtual void add_rows(const SentenceRows& before, StepInput& rows) const = 0;
  /// Chooses what they are followed by; their scores begin with the decoder's row `first`. On any
  /// thread. InputError for scores that are no numbers, and as length_penalty_divisor().
  virtual void choose(EnsembleDecoder& decoder, Index first) = 0;
  virtual bool done() const = 0;
  /// Best first, num_return_sequences of them. InputError as hypothesis_score().
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

/// One beam: the likeliest token at each step, or one that is drawn (translate/search/sampler.h);
/// then several translations of a sentence side by side, the best score first (greedy_search.cpp).
std::unique_ptr<SentenceSearch> greedy_search(const SearchRules& rules, std::span<const int> source,
                                              Index max_generated_tokens);

/// Who follows a beam search, and as which sentence of a batch; null: nobody.
struct BeamTrace {
  SearchTrace* trace = nullptr;
  Index sentence = 0;
};

/// `num_beams` hypotheses a sentence side by side (beam_search.cpp).
std::unique_ptr<SentenceSearch> beam_search(const SearchRules& rules, std::span<const int> source,
                                            Index max_generated_tokens, const BeamTrace& traced = {});

/// One of both: greedy search for one beam, unless somebody follows.
std::unique_ptr<SentenceSearch> sentence_search(const SearchRules& rules,
                                                std::span<const int> source, Index max_generated_tokens,
                                                const BeamTrace& traced = {});

}  // namespace attn
