// What greedy_search.cpp and beam_search.cpp share.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "translate/ensemble.h"
#include "translate/search/search.h"

namespace attn {

/// The rows of one step: which sentence each belongs to, what it continues, its token.
struct StepRows {
  std::vector<int> tokens;
  std::vector<Index> parents;
  std::vector<Index> sentences;

  void clear() {
    tokens.clear();
    parents.clear();
    sentences.clear();
  }
  void add(int token, Index parent, Index sentence) {
    tokens.push_back(token);
    parents.push_back(parent);
    sentences.push_back(sentence);
  }
};

/// The tokens that end a translation.
inline std::vector<int> ends_of(const DecodeConfig& decode, const ModelConfig& model) {
  return decode.eos_token_ids.value_or(std::vector<int>{model.eos_token_id});
}

/// What the decoder begins with.
inline int start_of(const DecodeConfig& decode, const ModelConfig& model) {
  return decode.decoder_start_token_id.value_or(model.decoder_start_token_id);
}

/// Hypotheses of one sentence side by side: beams, or translations that are drawn.
inline Index rows_of_sentence(const DecodeConfig& decode) {
  return decode.sampling ? decode.num_return_sequences : decode.num_beams;
}

/// Steps of the longest translation of the batch.
inline Index most_steps(const DecodeConfig& decode, const Ensemble& models,
                        const PackedTokens& source) {
  Index steps = 1;
  for (Index b = 0; b < source.sentences(); ++b) {
    steps = std::max(steps, most_tokens(decode, models, source.length(b)));
  }
  return steps;
}

/// One beam: the likeliest token at each step, or one that is drawn (translate/search/sampler.h);
/// then several translations of a sentence side by side, the best score first.
SearchResults greedy_search(const Ensemble& models, const PackedTokens& source,
                            const DecodeConfig& decode, const SearchWatch& watch);

/// `num_beams` hypotheses a sentence side by side.
SearchResults beam_search(const Ensemble& models, const PackedTokens& source,
                          const DecodeConfig& decode, const SearchWatch& watch);

}  // namespace attn
