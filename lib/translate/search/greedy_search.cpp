#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "base/at.h"
#include "translate/search/logits_processor.h"
#include "translate/search/sampler.h"
#include "translate/search/search_steps.h"

namespace attn {
namespace {

/// One translation on its way: a sentence has several where they are drawn.
struct GreedyRow {
  Index sentence = 0;
  std::vector<int> ids;
  float sum = 0;
  Index most = 0;
  bool finite = true;  ///< the logits so far
  std::optional<Sampler> sampler;
};

/// The first token with a row's largest score. That is the normaliser's maximum already, but for a
/// token that is forbidden, or where scores changed: then the row is searched again.
Index likeliest(const LogitsProcessor& processor, std::span<const float> row,
                const RowNormaliser& normal) {
  const auto n = std::ssize(row);
  if (processor.changes_scores()) return kernels().arg_max(row.data(), n);
  const float below = std::nextafter(normal.maximum, -std::numeric_limits<float>::infinity());
  const Index found = kernels().find_above(row.data(), 0, n, below);
  return found < n ? found : kernels().arg_max(row.data(), n);
}

/// Chooses one row's next token and adds it, with its log-probability after processing.
void choose_next(const LogitsProcessor& processor, EnsembleDecoder& decoder,
                 std::span<const int> source, GreedyRow& next, Index r) {
  const auto [row, normal] = decoder.scores(processor, {next.ids, source}, r);
  next.finite = normal.finite;
  if (!next.finite) return;
  if (const auto forced = processor.forced(std::ssize(next.ids), next.most)) {
    next.ids.push_back(*forced);
  } else {
    const Index chosen = next.sampler ? next.sampler->draw(row) : likeliest(processor, row, normal);
    next.sum += normal(at(row, chosen));
    next.ids.push_back(to_int(chosen));
  }
}

/// All rows before the first step.
std::vector<GreedyRow> first_rows(const Ensemble& models, const PackedTokens& source,
                                  const DecodeConfig& decode) {
  std::vector<GreedyRow> all;
  for (Index b = 0; b < source.sentences(); ++b) {
    for (Index number = 0; number < (decode.sampling ? rows_of_sentence(decode) : 1); ++number) {
      GreedyRow row;
      row.sentence = b;
      row.most = most_tokens(decode, models, source.length(b));
      if (decode.sampling) row.sampler.emplace(*decode.sampling, source.of(b), to_size(number));
      all.push_back(std::move(row));
    }
  }
  return all;
}

SearchResults results_of(const std::vector<GreedyRow>& all, Index sentences,
                         const DecodeConfig& decode) {
  SearchResults results(to_size(sentences));
  for (const GreedyRow& row : all) {
    const float score = hypothesis_score(row.sum, row.ids.size(), decode.length_penalty);
    at(results, row.sentence).push_back({row.ids, score});
  }
  for (std::vector<SearchHypothesis>& found : results) {
    std::ranges::stable_sort(found, std::ranges::greater(), &SearchHypothesis::score);
  }
  return results;
}

}  // namespace

SearchResults greedy_search(const Ensemble& models, const PackedTokens& source,
                            const DecodeConfig& decode, const SearchWatch& watch) {
  const ModelConfig& config = models.config();
  const std::vector<int> ends = ends_of(decode, config);
  const LogitsProcessor processor(decode, ends, config.decoder_vocab_size);
  std::vector<GreedyRow> all = first_rows(models, source, decode);
  EnsembleDecoder decoder(models, source, std::ssize(all), most_steps(decode, models, source),
                          watch);
  StepRows rows, next;
  const int start = start_of(decode, config);
  decoder.start_with(start);
  std::vector<Index> running(all.size()), still;  // of each of the decoder's rows, its place in all
  std::iota(running.begin(), running.end(), Index{0});
  for (const Index i : running) rows.add(start, i, at(all, i).sentence);
  while (!running.empty()) {
    stop_if_asked(watch.stop);
    decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = std::ssize(running);
    parallel_for(count, decoder.size() * 8, [&](Index r) {
      GreedyRow& row = at(all, at(running, r));
      choose_next(processor, decoder, source.of(row.sentence), row, r);
    });
    next.clear();
    still.clear();
    for (Index r = 0; r < count; ++r) {
      const GreedyRow& row = at(all, at(running, r));
      if (!row.finite) refuse_logits(models.name(), std::ssize(row.ids));
      const bool ended = std::ranges::find(ends, row.ids.back()) != ends.end();
      if (ended || std::ssize(row.ids) >= row.most) continue;
      next.add(row.ids.back(), r, row.sentence);
      still.push_back(at(running, r));
    }
    std::swap(rows, next);
    std::swap(running, still);
  }
  return results_of(all, source.sentences(), decode);
}

}  // namespace attn
