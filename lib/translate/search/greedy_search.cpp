#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "base/at.h"
#include "translate/search/continuous_batch.h"
#include "translate/search/logits_processor.h"

namespace attn {
namespace {

/// A translation in progress. With sampling, a sentence has several.
struct GreedyRow {
  std::vector<int> ids;
  float sum = 0;
  std::optional<Sampler> sampler;
};

/// Returns the first token with a row's largest score. Usually this is the normalizer's maximum;
/// the row is searched again only if that token is forbidden or scores have changed.
Index likeliest(const LogitsProcessor& processor, std::span<const float> row,
                const LogSoftmax& normal) {
  const auto n = std::ssize(row);
  if (processor.changes_scores()) return kernels().arg_max(row.data(), n);
  const float below = std::nextafter(normal.maximum, -std::numeric_limits<float>::infinity());
  const Index found = kernels().find_above(row.data(), 0, n, below);
  return found < n ? found : kernels().arg_max(row.data(), n);
}

class GreedySearch : public SentenceSearch {
 public:
  GreedySearch(const SearchRules& rules, std::span<const int> source, Index max_generated_tokens)
      : SentenceSearch(rules, source, max_generated_tokens), all_(to_size(rules.hypotheses())) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (rules.decode.sampling) all_[i].sampler.emplace(*rules.decode.sampling, source, i);
      running_.push_back(to_index(i));
      parents_.push_back(0);
    }
  }

  void add_rows(const SentenceRows& before, StepInput& rows) const override {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const GreedyRow& row = at(all_, running_[i]);
      rows.add(row.ids.empty() ? rules().start : row.ids.back(), before.first + parents_[i],
               before.slot);
    }
  }

  void choose(EnsembleDecoder& decoder, Index first) override {
    std::vector<Index> still;
    parents_.clear();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      GreedyRow& row = at(all_, running_[i]);
      choose_next(decoder, row, first + to_index(i));
      const bool ended = std::ranges::find(rules().ends, row.ids.back()) != rules().ends.end();
      if (ended || std::ssize(row.ids) >= max_generated_tokens()) continue;
      still.push_back(running_[i]);
      parents_.push_back(to_index(i));
    }
    running_ = std::move(still);
  }

  bool done() const override { return running_.empty(); }

  std::vector<SearchHypothesis> results() const override {
    std::vector<SearchHypothesis> found;
    for (const GreedyRow& row : all_) {
      found.push_back(
          {row.ids, hypothesis_score(row.sum, row.ids.size(), rules().decode.length_penalty)});
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &SearchHypothesis::score);
    return found;
  }

 private:
  /// Chooses a row's next token and adds it, with its log-probability after processing.
  void choose_next(EnsembleDecoder& decoder, GreedyRow& next, Index r) const {
    const LogitsProcessor& processor = rules().processor;
    const auto [row, normal] = decoder.scores(processor, context(next.ids), r);
    if (!normal.finite) throw_non_finite_logits(rules().models, std::ssize(next.ids));
    if (const auto forced = processor.forced_token(std::ssize(next.ids), max_generated_tokens())) {
      next.ids.push_back(*forced);
      return;
    }
    const Index chosen =
        next.sampler ? next.sampler->sample(row) : likeliest(processor, row, normal);
    next.sum += normal(at(row, chosen));
    next.ids.push_back(to_int(chosen));
  }

  std::vector<GreedyRow> all_;
  std::vector<Index> running_;  ///< index in all_ of each running row
  std::vector<Index> parents_;  ///< the row of the previous step that each row continues
};

}  // namespace

std::unique_ptr<SentenceSearch> greedy_search(const SearchRules& rules, std::span<const int> source,
                                              Index max_generated_tokens) {
  return std::make_unique<GreedySearch>(rules, source, max_generated_tokens);
}

}  // namespace attn
