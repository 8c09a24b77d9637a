// What greedy_search.cpp and beam_search.cpp share: the rows of a step and their decoder.
#pragma once

#include <span>
#include <vector>

#include "model/incremental_decoder.h"
#include "translate/search.h"

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

inline std::span<float> row_of(MatrixRef& logits, Index r) {
  return {logits.data() + r * logits.outerStride(), static_cast<std::size_t>(logits.cols())};
}

/// The tokens that end a translation.
inline std::vector<int> ends_of(const DecodeConfig& decode, const ModelConfig& model) {
  return decode.eos_token_ids.value_or(std::vector<int>{model.eos_token_id});
}

/// A decoder for all hypotheses of the batch.
IncrementalDecoder make_decoder(const Transformer& model, const EncodedSource& encoded,
                                const PackedTokens& source, const DecodeConfig& decode,
                                AttentionObserver* observer);

/// One beam: the likeliest token at each step.
SearchResults greedy_search(const Transformer& model, const PackedTokens& source,
                            const DecodeConfig& decode, AttentionObserver* observer);

/// `num_beams` hypotheses a sentence side by side.
SearchResults beam_search(const Transformer& model, const PackedTokens& source,
                          const DecodeConfig& decode, const SearchWatch& watch);

}  // namespace attn
