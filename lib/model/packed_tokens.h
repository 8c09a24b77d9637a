// A batch of sentences without padding, and who may look at whom in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/at.h"
#include "nn/attention/attention.h"

namespace attn {

/// Sentences of token ids, packed one after another.
struct PackedTokens {
  std::vector<int> ids;  ///< T of them
  Offsets offsets{0};    ///< B + 1 of them
  /// Padding as in a padded batch: hidden[t] ≠ 0 makes token t invisible as a key. Empty: none.
  std::vector<std::uint8_t> key_padding_mask;

  void add(std::span<const int> sentence);
  void add(const PackedTokens& other, std::size_t sentence);  ///< one of another batch
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

/// Tokens of the longest sentence.
Index longest_sentence(const PackedTokens& tokens);

/// The place of every token in its own sentence.
std::vector<Index> positions_of(const PackedTokens& tokens);

/// InputError where a sentence has not 1 to `positions` tokens, or an id is outside the vocabulary;
/// `side` (source, target) begins the message.
void check_tokens(const PackedTokens& tokens, int vocabulary, int positions, const char* side);

/// Every sentence looks at itself. `globals` are the places of global tokens in each.
std::vector<AttentionGroup> self_groups(const PackedTokens& tokens, bool causal,
                                        std::span<const Index> globals = {});

/// Every target sentence looks at its source sentence, whose tokens lie at `offsets`.
std::vector<AttentionGroup> cross_groups(const PackedTokens& target, const Offsets& offsets,
                                         const std::vector<std::uint8_t>& key_padding_mask);

}  // namespace attn
