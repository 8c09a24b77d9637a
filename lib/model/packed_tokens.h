// A batch of sentences without padding, and which tokens may attend to which.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/at.h"
#include "nn/attention/attention.h"

namespace attn {

/// Sentences of token ids, packed back to back.
struct PackedTokens {
  std::vector<int> ids;  ///< T token ids
  Offsets offsets{0};    ///< B + 1 offsets
  /// Key padding mask of a padded batch: key_padding_mask[t] ≠ 0 makes token t invisible as a key.
  /// Empty: none.
  std::vector<std::uint8_t> key_padding_mask;

  void add(std::span<const int> sentence);
  void add(const PackedTokens& other,
           std::size_t sentence);  ///< appends one sentence of another batch
  Index sentences() const { return std::ssize(offsets) - 1; }
  std::span<const int> of(Index sentence) const {
    const auto b = to_size(sentence);
    return std::span(ids).subspan(to_size(offsets[b]), to_size(offsets[b + 1] - offsets[b]));
  }
  Index length(Index sentence) const {
    const auto b = to_size(sentence);
    return offsets[b + 1] - offsets[b];
  }
};

/// Returns the length of the longest sentence, in tokens.
Index longest_sentence(const PackedTokens& tokens);

/// Returns the position of every token in its own sentence.
std::vector<Index> positions_of(const PackedTokens& tokens);

/// Throws InputError if a sentence has fewer than 1 or more than `positions` tokens, or an id is
/// outside the vocabulary. `side` (source, target) begins the message.
void check_tokens(const PackedTokens& tokens, int vocabulary, int positions, const char* side);

/// Returns groups in which every sentence attends to itself. `globals` are the positions of global
/// tokens in each.
std::vector<AttentionGroup> self_groups(const PackedTokens& tokens, bool causal,
                                        std::span<const Index> globals = {});

/// Returns groups in which every target sentence attends to its source sentence; source tokens are
/// delimited by `offsets`.
std::vector<AttentionGroup> cross_groups(const PackedTokens& target, const Offsets& offsets,
                                         const std::vector<std::uint8_t>& key_padding_mask);

}  // namespace attn
