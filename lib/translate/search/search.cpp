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
#include "translate/search/search_steps.h"

namespace attn {
namespace {

/// MemoryError where keys, values and logits of the whole batch would not fit for all models
/// together, whatever number of threads shares it.
void require_room(const DecodeConfig& decode, const Ensemble& models, const PackedTokens& source) {
  const Index rows = source.sentences() * rows_of_sentence(decode);
  const Index steps = most_steps(decode, models, source);
  std::optional<std::uint64_t> bytes = 0;
  for (const Transformer* model : models.models()) {
    const std::uint64_t cache =
        IncrementalDecoder::cache_bytes(model->config(), rows, steps, std::ssize(source.ids));
    const auto logits = checked_product(
        {to_size(rows), to_size(model->config().decoder_vocab_size), sizeof(float)});
    if (bytes) bytes = checked_add(*bytes, cache);
    bytes = bytes && logits ? checked_add(*bytes, *logits) : std::nullopt;
  }
  const std::uint64_t needed = bytes.value_or(~std::uint64_t{0});
  // Asking the system is a few file reads; caches of everyday size need no asking.
  if (needed > (std::uint64_t{256} << 20)) {
    require_memory(needed, fmt::format("the cache of keys and values for {} sentences at a time, "
                                       "{} beams and up to {} tokens each",
                                       source.sentences(), rows_of_sentence(decode), steps));
  }
}

SearchResults search_here(const Ensemble& models, const PackedTokens& source,
                          const DecodeConfig& decode, const SearchWatch& watch) {
  return decode.num_beams == 1 && watch.trace == nullptr
             ? greedy_search(models, source, decode, watch)
             : beam_search(models, source, decode, watch);
}

/// Each thread searches its own part of the batch, from the encoder to the last step. Threads that
/// shared every product would wait for one another some forty times a step, and each time for the
/// scheduler of a busy machine; with sentences of their own they wait once. The bits are the same,
/// because no row depends on its neighbours.
SearchResults search_in_parts(const Ensemble& models, const PackedTokens& source,
                              const DecodeConfig& decode) {
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
    SearchResults found = search_here(models, own, decode, {});
    for (std::size_t i = part; i < order.size(); i += parts) {
      results[order[i]] = std::move(found[i / parts]);
    }
  });
  return results;
}

}  // namespace

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
  require_room(decode, models, source);
  const bool watched = watch.trace != nullptr || watch.observer != nullptr || watch.stop != nullptr;
  if (!watched && source.sentences() > 1 && may_use_threads()) {
    return search_in_parts(models, source, decode);
  }
  return search_here(models, source, decode, watch);
}

}  // namespace attn
