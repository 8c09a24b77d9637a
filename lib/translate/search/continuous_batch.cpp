#include "translate/search/continuous_batch.h"

#include <algorithm>

#include "base/at.h"

namespace attn {

void ContinuousBatch::join(std::span<SentenceSearch* const> searches,
                           const EncodedSource* encoded) {
  PackedTokens source;
  std::vector<SlotSize> sizes;
  for (const SentenceSearch* search : searches) {
    source.add(search->source());
    sizes.push_back(search->size());
  }
  running_.reserve(running_.size() + searches.size());
  const std::vector<Index> slots = decoder_.add_sentences(source, sizes, encoded);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    running_.push_back({searches[i], {slots[i], 0}, nullptr});
    hypotheses_ += sizes[i].hypotheses;
  }
}

void ContinuousBatch::release(const Running& one) {
  decoder_.remove_sentence(one.place.slot);
  hypotheses_ -= one.search->size().hypotheses;
}

void ContinuousBatch::leave(const SentenceSearch& search) {
  const auto found = std::ranges::find(running_, &search, &Running::search);
  if (found == running_.end()) return;
  release(*found);
  running_.erase(found);
}

std::vector<ContinuousBatch::FinishedSearch> ContinuousBatch::step() {
  rows_.clear();
  for (Running& one : running_) {
    const Index first = rows_.size();
    one.search->add_rows(one.place, rows_);
    one.place.first = first;
  }
  decoder_.step(rows_.tokens, rows_.parents, rows_.slots);
  parallel_for(std::ssize(running_), decoder_.size() * 8, [&](Index i) {
    Running& one = at(running_, i);
    try {
      one.search->choose(decoder_, one.place.first);
    } catch (...) {
      one.error = std::current_exception();
    }
  });
  std::vector<FinishedSearch> ended;
  std::erase_if(running_, [&](const Running& one) {
    if (!one.error && !one.search->done()) return false;
    ended.push_back({one.search, one.error});
    release(one);
    return true;
  });
  return ended;
}

}  // namespace attn
