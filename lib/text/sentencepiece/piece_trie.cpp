#include "text/sentencepiece/piece_trie.h"

#include <utility>

namespace attn {

void PieceTrie::add(std::string_view piece, int id) {
  std::uint32_t node = kRoot;
  for (const char byte : piece) node = make_child(node, static_cast<unsigned char>(byte));
  ids_[node] = id;
}

std::uint32_t PieceTrie::make_child(std::uint32_t node, unsigned char byte) {
  if (ids_.size() * 2 > slots_.size()) grow();
  const std::uint64_t key = std::uint64_t{node} << 8 | byte;
  Slot& found = slots_[slot(key)];
  if (found.child == kNone) {
    found = {key, static_cast<std::uint32_t>(ids_.size())};
    ids_.push_back(kNoPiece);
  }
  return found.child;
}

void PieceTrie::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot& each : old) {
    if (each.child != kNone) slots_[slot(each.key)] = each;
  }
}

}  // namespace attn
