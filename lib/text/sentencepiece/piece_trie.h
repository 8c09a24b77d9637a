// Finds the pieces that begin at a position of a text: a trie of their bytes (Fredkin 1960, "Trie
// memory").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/at.h"

namespace attn {

/// All edges are in one hash table, so a step down is one look-up, and building the trie costs
/// little more than reading the pieces.
class PieceTrie {
 public:
  void add(std::string_view piece, int id);

  /// Calls visit(length in bytes, id) for each piece that `text` begins with, the shortest first.
  template <typename Visit>
  void each_prefix(std::string_view text, Visit&& visit) const {
    std::uint32_t node = kRoot;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == kNone) return;
      if (ids_[node] != kNoPiece) visit(i + 1, ids_[node]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0;  ///< also marks empty slots
  static constexpr std::uint32_t kRoot = 1;
  static constexpr int kNoPiece = -1;

  struct Slot {
    std::uint64_t key = 0;  ///< parent · 256 + byte
    std::uint32_t child = kNone;
  };

  /// Returns the slot that holds `key`, or the empty slot where it belongs.
  std::size_t slot(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = to_size(key * 0x9E3779B97F4A7C15U >> 32) & mask;
    while (slots_[i].child != kNone && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  std::uint32_t child(std::uint32_t node, unsigned char byte) const {
    return slots_[slot(std::uint64_t{node} << 8 | byte)].child;
  }
  std::uint32_t make_child(std::uint32_t node, unsigned char byte);
  void grow();

  std::vector<int> ids_ = {kNoPiece, kNoPiece};  ///< of each node's piece
  /// The size is a power of two; at most half of the slots are in use.
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
};

}  // namespace attn
