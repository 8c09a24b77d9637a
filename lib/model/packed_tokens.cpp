#include "model/packed_tokens.h"

#include <numeric>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

std::span<const std::uint8_t> key_padding_mask_of(const std::vector<std::uint8_t>& key_padding_mask,
                                                  const Offsets& offsets, std::size_t b) {
  if (key_padding_mask.empty()) return {};
  const auto first = to_size(offsets[b]);
  return {key_padding_mask.data() + first, to_size(offsets[b + 1]) - first};
}

}  // namespace

void PackedTokens::add(std::span<const int> sentence) {
  ids.insert(ids.end(), sentence.begin(), sentence.end());
  offsets.push_back(std::ssize(ids));
}

void PackedTokens::add(const PackedTokens& other, std::size_t sentence) {
  const auto first = to_size(other.offsets[sentence]);
  const std::size_t length = to_size(other.offsets[sentence + 1]) - first;
  add(std::span(other.ids).subspan(first, length));
  if (!other.key_padding_mask.empty()) {
    const auto from = other.key_padding_mask.begin() + to_index(first);
    key_padding_mask.insert(key_padding_mask.end(), from, from + to_index(length));
  }
}

Index longest_sentence(const PackedTokens& tokens) {
  Index longest = 0;
  for (Index b = 0; b < tokens.sentences(); ++b) longest = std::max(longest, tokens.length(b));
  return longest;
}

std::vector<Index> positions_of(const PackedTokens& tokens) {
  std::vector<Index> positions(tokens.ids.size());
  for (Index b = 0; b < tokens.sentences(); ++b) {
    const auto first = positions.begin() + at(tokens.offsets, b);
    std::iota(first, first + tokens.length(b), Index{0});
  }
  return positions;
}

void check_tokens(const PackedTokens& tokens, int vocabulary, int positions, const char* side) {
  for (Index b = 0; b < tokens.sentences(); ++b) {
    if (tokens.length(b) < 1 || tokens.length(b) > positions) {
      throw InputError("{} sentence {} has {} tokens; the model takes 1 to {}", side, b,
                       tokens.length(b), positions);
    }
  }
  for (const int id : tokens.ids) {
    if (id < 0 || id >= vocabulary) {
      throw InputError("{} token id {} is outside the model's vocabulary of {}", side, id,
                       vocabulary);
    }
  }
}

std::vector<AttentionGroup> self_groups(const PackedTokens& tokens, bool causal,
                                        std::span<const Index> globals) {
  std::vector<AttentionGroup> groups;
  for (std::size_t b = 0; b + 1 < tokens.offsets.size(); ++b) {
    const Index first = tokens.offsets[b];
    const Index length = tokens.offsets[b + 1] - first;
    groups.push_back({to_index(b),
                      first,
                      length,
                      first,
                      length,
                      nullptr,
                      {causal, key_padding_mask_of(tokens.key_padding_mask, tokens.offsets, b)},
                      globals});
  }
  return groups;
}

std::vector<AttentionGroup> cross_groups(const PackedTokens& target, const Offsets& offsets,
                                         const std::vector<std::uint8_t>& key_padding_mask) {
  std::vector<AttentionGroup> groups;
  for (std::size_t b = 0; b + 1 < target.offsets.size(); ++b) {
    groups.push_back({to_index(b),
                      target.offsets[b],
                      target.offsets[b + 1] - target.offsets[b],
                      offsets[b],
                      offsets[b + 1] - offsets[b],
                      nullptr,
                      {false, key_padding_mask_of(key_padding_mask, offsets, b)}});
  }
  return groups;
}

}  // namespace attn
