#include "translate/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "translate/search/running_searches.h"
#include "translate/search/sentence_search.h"

namespace attn {
namespace {

/// Steps of the longest translation of the batch.
Index most_steps(const DecodeConfig& decode, const Ensemble& models, const PackedTokens& source) {
  Index steps = 1;
  for (Index b = 0; b < source.sentences(); ++b) {
    steps = std::max(steps, most_tokens(decode, models, source.length(b)));
  }
  return steps;
}

/// Bytes of keys, values and logits of one sentence in a model; nothing where those leave 64 bits.
std::optional<std::uint64_t> bytes_of(const ModelConfig& model, const SlotSize& size,
                                      Index source_length) {
  const std::uint64_t cache =
      IncrementalDecoder::cache_bytes(model, size.hypotheses, size.steps, source_length);
  const auto logits =
      checked_product({to_size(size.hypotheses), to_size(model.decoder_vocab_size), sizeof(float)});
  return logits ? checked_add(cache, *logits) : std::nullopt;
}

/// MemoryError where keys, values and logits of the whole batch would not fit for all models
/// together, whatever number of threads shares it.
void require_room(const SearchRules& rules, const Ensemble& models, const PackedTokens& source) {
  std::optional<std::uint64_t> bytes = 0;
  for (const Transformer* model : models.models()) {
    for (Index b = 0; b < source.sentences(); ++b) {
      const Index length = source.length(b);
      const auto own = bytes_of(
          model->config(), {rules.hypotheses(), most_tokens(rules.decode, models, length)}, length);
      bytes = bytes && own ? checked_add(*bytes, *own) : std::nullopt;
    }
  }
  const std::uint64_t needed = bytes.value_or(~std::uint64_t{0});
  // Asking the system is a few file reads; caches of everyday size need no asking.
  if (needed > (std::uint64_t{256} << 20)) {
    require_memory(needed, fmt::format("the cache of keys and values for {} sentences at a time, "
                                       "{} beams and up to {} tokens each",
                                       source.sentences(), rules.hypotheses(),
                                       most_steps(rules.decode, models, source)));
  }
}

SearchResults search_here(const Ensemble& models, const PackedTokens& source,
                          const SearchRules& rules, const SearchWatch& watch) {
  std::vector<std::unique_ptr<SentenceSearch>> searches;
  std::vector<SentenceSearch*> all;
  for (Index b = 0; b < source.sentences(); ++b) {
    const Index most = most_tokens(rules.decode, models, source.length(b));
    searches.push_back(sentence_search(rules, source.of(b), most, {watch.trace, b}));
    all.push_back(searches.back().get());
  }
  RunningSearches running(models, watch.observer);
  running.join(all, watch.encoded);
  while (!running.empty()) {
    stop_if_asked(watch.stop);
    for (const RunningSearches::Ended& one : running.step()) {
      if (one.error) std::rethrow_exception(one.error);
    }
  }
  SearchResults results;
  for (const auto& search : searches) results.push_back(search->results());
  return results;
}

/// Each thread searches its own part of the batch, from the encoder to the last step. Threads that
/// shared every product would wait for one another some forty times a step, and each time for the
/// scheduler of a busy machine; with sentences of their own they wait once. The bits are the same,
/// because no row depends on its neighbours.
SearchResults search_in_parts(const Ensemble& models, const PackedTokens& source,
                              const SearchRules& rules) {
  // Sentences are dealt out by length, so that the parts take about as long.
  std::vector<std::size_t> order(to_size(source.sentences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return source.length(to_index(a)) > source.length(to_index(b));
  });
  const auto parts = std::min(to_size(threads()), order.size());
  SearchResults results(order.size());
  constexpr Index kMuch = std::numeric_limits<Index>::max();  // always worth a thread
  parallel_for(to_index(parts), kMuch, [&](Index index) {
    const auto part = to_size(index);
    PackedTokens own;
    for (std::size_t i = part; i < order.size(); i += parts) own.add(source, order[i]);
    SearchResults found = search_here(models, own, rules, {});
    for (std::size_t i = part; i < order.size(); i += parts) {
      results[order[i]] = std::move(found[i / parts]);
    }
  });
  return results;
}

}  // namespace

SearchRules::SearchRules(const Ensemble& ensemble, const DecodeConfig& given)
    : decode(given),
      ends(given.eos_token_ids.value_or(std::vector<int>{ensemble.config().eos_token_id})),
      start(start_of(given, ensemble.config())),
      processor(given, ends, ensemble.config().decoder_vocab_size),
      models(ensemble.name()) {}

std::unique_ptr<SentenceSearch> sentence_search(const SearchRules& rules,
                                                std::span<const int> source, Index most_tokens,
                                                const Traced& traced) {
  return rules.decode.num_beams == 1 && traced.trace == nullptr
             ? greedy_search(rules, source, most_tokens)
             : beam_search(rules, source, most_tokens, traced);
}

int start_of(const DecodeConfig& decode, const ModelConfig& model) {
  return decode.decoder_start_token_id.value_or(model.decoder_start_token_id);
}

Index most_tokens(const DecodeConfig& decode, const Ensemble& models, Index source_length) {
  const Index wanted = decode.max_new_tokens > 0 ? decode.max_new_tokens : 2 * source_length + 10;
  return std::min(wanted, models.max_decoder_positions());
}

float length_power(Index length, float length_penalty) {
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
  const float score = sum / length_power(to_index(length), length_penalty);
  require_finite_score(score, length_penalty);
  return score;
}

SearchResults search(const Ensemble& models, const PackedTokens& source, const DecodeConfig& decode,
                     const SearchWatch& watch) {
  if (source.sentences() == 0) return {};
  if (decode.sampling && watch.trace != nullptr) {
    throw InputError("translations that are drawn at random have no search tree");
  }
  const SearchRules rules(models, decode);
  require_room(rules, models, source);
  const bool watched = watch.trace != nullptr || watch.observer != nullptr || watch.stop != nullptr;
  if (!watched && source.sentences() > 1 && may_use_threads()) {
    return search_in_parts(models, source, rules);
  }
  return search_here(models, source, rules, watch);
}

}  // namespace attn
