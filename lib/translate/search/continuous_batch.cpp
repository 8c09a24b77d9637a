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

namespace {

std::span<float> row_of(MatrixRef& logits, Index r) {
  return {logits.data() + r * logits.outerStride(), to_size(logits.cols())};
}

}  // namespace

EnsembleDecoder::EnsembleDecoder(const Ensemble& ensemble, AttentionObserver* observer)
    : ensemble_(ensemble), observer_(observer) {
  for (const Transformer* model : ensemble.models()) {
    decoders_.emplace_back(*model, decoders_.empty() ? observer : nullptr);
  }
}

std::vector<Index> EnsembleDecoder::add_sentences(const PackedTokens& source,
                                                  std::span<const SlotSize> sizes,
                                                  const EncodedSource* encoded) {
  std::vector<Index> slots;
  for (std::size_t m = 0; m < decoders_.size(); ++m) {
    const bool first = m == 0;
    const Transformer& model = *at(ensemble_.models(), m);
    try {
      const std::vector<Index> joined =
          first && encoded != nullptr
              ? decoders_[m].add_sentences(*encoded, sizes)
              : decoders_[m].add_sentences(model.encode(source, first ? observer_ : nullptr),
                                           sizes);
      if (first)
        slots = joined;  // the same sentences join and leave every model, so the slots are the same
    } catch (...) {
      for (std::size_t before = 0; before < m; ++before) {
        for (const Index slot : slots) decoders_[before].remove_sentence(slot);
      }
      throw;
    }
  }
  return slots;
}

void EnsembleDecoder::remove_sentence(Index slot) {
  for (IncrementalDecoder& decoder : decoders_) decoder.remove_sentence(slot);
}

void EnsembleDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                           std::span<const Index> slots) {
  logits_.clear();
  for (IncrementalDecoder& decoder : decoders_) {
    logits_.push_back(decoder.step(tokens, parents, slots));
  }
}

Index EnsembleDecoder::size() const {
  return logits_.front().size() * std::ssize(logits_);
}

RowScores EnsembleDecoder::scores(const LogitsProcessor& processor, const LogitsContext& context,
                                  Index r) {
  const std::span<float> row = row_of(logits_.front(), r);
  const LogSoftmax normal = processor.process(context, row);
  if (logits_.size() == 1) return {row, normal};
  for (float& x : row) x = normal(x);
  LogSoftmax mean{0, 0, normal.finite};
  for (std::size_t m = 1; m < logits_.size(); ++m) {
    const std::span<const float> other = row_of(logits_[m], r);
    const LogSoftmax other_normal = processor.process(context, row_of(logits_[m], r));
    mean.finite = mean.finite && other_normal.finite;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += other_normal(other[i]);
  }
  const auto count = static_cast<float>(logits_.size());
  for (float& x : row) x /= count;
  return {row, mean};
}

}  // namespace attn
