#include "translate/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "translate/search/continuous_batch.h"

namespace attn {
namespace {

std::vector<std::size_t> longest_first(const PackedTokens& source) {
  std::vector<std::size_t> order(to_size(source.sentences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t b) { return source.length(to_index(b)); });
  return order;
}

/// MemoryError where keys, values and logits of the longest `max_active` sentences, or of all where
/// that is 0, would not fit for all models together, whatever number of threads shares them.
void require_room(const SearchRules& rules, const Ensemble& models, const PackedTokens& source,
                  Index max_active) {
  std::vector<std::size_t> order = longest_first(source);
  if (max_active > 0) order.resize(std::min(order.size(), to_size(max_active)));
  std::optional<std::uint64_t> bytes = 0;
  for (const std::size_t b : order) {
    const auto own = search_bytes(rules, models, source.length(to_index(b)));
    bytes = bytes && own ? checked_add(*bytes, *own) : std::nullopt;
  }
  const std::uint64_t needed = bytes.value_or(~std::uint64_t{0});
  // Asking the system is a few file reads; caches of everyday size need no asking.
  if (needed > (std::uint64_t{256} << 20)) {
    require_memory(needed,
                   fmt::format("the cache of keys and values for {} sentences at a time, "
                               "{} beams and up to {} tokens each",
                               order.size(), rules.hypotheses(),
                               max_generated_tokens(rules.decode, models,
                                                    source.length(to_index(order.front())))));
  }
}

/// Some sentences of a batch, searched for side by side on one thread or by shared products.
class BatchSearch {
 public:
  /// `order`: which sentences, in which order they join.
  BatchSearch(const Ensemble& models, const PackedTokens& source, const SearchRules& rules,
              std::span<const std::size_t> order)
      : models_(models), source_(source), rules_(rules), order_(order) {}

  /// Puts what is found where each sentence has its place.
  void run(const SearchContext& watch, SearchResults& results) {
    ContinuousBatch running(models_, watch.observer);
    while (joined_ < order_.size() || !running.empty()) {
      throw_if_stopped(watch.stop);
      admit_waiting(running, watch);
      for (const ContinuousBatch::FinishedSearch& one : running.step()) {
        if (one.error) std::rethrow_exception(one.error);
        const auto found = std::ranges::find(
            searches_, one.search, [](const Search& search) { return search.second.get(); });
        results[found->first] = one.search->results();
        searches_.erase(found);
      }
    }
  }

 private:
  using Search = std::pair<std::size_t, std::unique_ptr<SentenceSearch>>;  ///< by its number

  /// As many as there is room for, but not one by one: they are encoded together.
  void admit_waiting(ContinuousBatch& running, const SearchContext& watch) {
    const std::size_t most = watch.max_active > 0 ? to_size(watch.max_active) : order_.size();
    const std::size_t room = most - std::min(most, searches_.size());
    if (joined_ == order_.size() || room < most / 4 || room == 0) return;
    std::vector<SentenceSearch*> joining;
    for (; joined_ < order_.size() && joining.size() < room; ++joined_) {
      const Index b = to_index(order_[joined_]);
      const Index longest = max_generated_tokens(rules_.decode, models_, source_.length(b));
      searches_.emplace_back(order_[joined_],
                             sentence_search(rules_, source_.of(b), longest, {watch.trace, b}));
      joining.push_back(searches_.back().second.get());
    }
    running.join(joining, watch.encoded);
  }

  const Ensemble& models_;
  const PackedTokens& source_;
  const SearchRules& rules_;
  std::span<const std::size_t> order_;
  std::size_t joined_ = 0;
  std::vector<Search> searches_;
};

/// Each thread searches its own part of the batch, from the encoder to the last step. Threads that
/// shared every product would wait for one another some forty times a step, and each time for the
/// scheduler of a busy machine; with sentences of their own they wait once. The bits are the same,
/// because no row depends on its neighbours.
void search_in_parts(const Ensemble& models, const PackedTokens& source, const SearchRules& rules,
                     const SearchContext& watch, SearchResults& results) {
  // Sentences are dealt out by length, so that the parts take about as long.
  const std::vector<std::size_t> order = longest_first(source);
  const auto parts = std::min(to_size(threads()), order.size());
  const SearchContext own{.max_active = (watch.max_active + to_index(parts) - 1) / to_index(parts)};
  constexpr Index kMuch = std::numeric_limits<Index>::max();  // always worth a thread
  parallel_for(to_index(parts), kMuch, [&](Index part) {
    std::vector<std::size_t> dealt;
    for (std::size_t i = to_size(part); i < order.size(); i += parts) dealt.push_back(order[i]);
    BatchSearch(models, source, rules, dealt).run(own, results);
  });
}

}  // namespace

SearchRules::SearchRules(const Ensemble& ensemble, const DecodeConfig& given)
    : decode(given),
      ends(given.eos_token_ids.value_or(std::vector<int>{ensemble.config().eos_token_id})),
      start(decoder_start_token(given, ensemble.config())),
      processor(given, ends, ensemble.config().decoder_vocab_size),
      models(ensemble.name()) {}

std::optional<std::uint64_t> search_bytes(const SearchRules& rules, const Ensemble& models,
                                          Index source_length) {
  const Index steps = max_generated_tokens(rules.decode, models, source_length);
  std::optional<std::uint64_t> bytes = 0;
  for (const Transformer* model : models.models()) {
    const ModelConfig& config = model->config();
    const auto logits = checked_product(
        {to_size(rules.hypotheses()), to_size(config.decoder_vocab_size), sizeof(float)});
    const std::uint64_t cache =
        IncrementalDecoder::cache_bytes(config, rules.hypotheses(), steps, source_length);
    bytes = bytes && logits ? checked_add(*bytes, *logits) : std::nullopt;
    bytes = bytes ? checked_add(*bytes, cache) : std::nullopt;
  }
  return bytes;
}

std::unique_ptr<SentenceSearch> sentence_search(const SearchRules& rules,
                                                std::span<const int> source,
                                                Index max_generated_tokens,
                                                const BeamTrace& traced) {
  return rules.decode.num_beams == 1 && traced.trace == nullptr
             ? greedy_search(rules, source, max_generated_tokens)
             : beam_search(rules, source, max_generated_tokens, traced);
}

int decoder_start_token(const DecodeConfig& decode, const ModelConfig& model) {
  return decode.decoder_start_token_id.value_or(model.decoder_start_token_id);
}

Index max_generated_tokens(const DecodeConfig& decode, const Ensemble& models,
                           Index source_length) {
  const Index wanted = decode.max_new_tokens > 0 ? decode.max_new_tokens : 2 * source_length + 10;
  return std::min(wanted, models.max_decoder_positions());
}

float length_penalty_divisor(Index length, float length_penalty) {
  // Python raises an int to a float in double, and torch then divides float32 by it.
  const auto power = static_cast<float>(
      std::pow(static_cast<double>(length), static_cast<double>(length_penalty)));
  if (std::isnormal(power)) return power;
  throw InputError(
      "length_penalty {}: {} tokens ^ {} is beyond a 32-bit float; use one nearer to 0",
      length_penalty, length, length_penalty);
}

void require_finite_score(float score, float length_penalty) {
  if (std::isfinite(score)) return;
  throw InputError(
      "a translation's score is {}, with length_penalty {}; use one nearer to 0, and let "
      "bad_words_ids leave tokens to choose from",
      score, length_penalty);
}

float hypothesis_score(float sum, std::size_t length, float length_penalty) {
  const float score = sum / length_penalty_divisor(to_index(length), length_penalty);
  require_finite_score(score, length_penalty);
  return score;
}

SearchResults search(const Ensemble& models, const PackedTokens& source, const DecodeConfig& decode,
                     const SearchContext& watch) {
  if (source.sentences() == 0) return {};
  if (decode.sampling && watch.trace != nullptr) {
    throw InputError("translations that are drawn at random have no search tree");
  }
  const SearchRules rules(models, decode);
  require_room(rules, models, source, watch.max_active);
  SearchResults results(to_size(source.sentences()));
  const bool watched = watch.trace != nullptr || watch.observer != nullptr || watch.stop != nullptr;
  if (!watched && source.sentences() > 1 && may_use_threads()) {
    search_in_parts(models, source, rules, watch, results);
    return results;
  }
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});  // as `encoded` has them
  if (watch.max_active > 0) order = longest_first(source);
  BatchSearch(models, source, rules, order).run(watch, results);
  return results;
}

}  // namespace attn
