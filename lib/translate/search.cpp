#include "translate/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "translate/search_steps.h"

namespace attn {
namespace {

/// Most tokens of any translation of the batch.
Index longest(const DecodeConfig& decode, const ModelConfig& model, const PackedTokens& source) {
  Index steps = 1;
  for (Index b = 0; b < source.sentences(); ++b) {
    steps = std::max(steps, most_tokens(decode, model, source.length(b)));
  }
  return steps;
}

/// MemoryError where keys, values and logits of the whole batch would not fit, whatever number of
/// threads shares it.
void require_room(const DecodeConfig& decode, const ModelConfig& model,
                  const PackedTokens& source) {
  const Index rows = source.sentences() * decode.num_beams;
  const Index steps = longest(decode, model, source);
  const std::uint64_t cache =
      IncrementalDecoder::cache_bytes(model, rows, steps, static_cast<Index>(source.ids.size()));
  const auto logits =
      checked_product({static_cast<std::uint64_t>(rows),
                       static_cast<std::uint64_t>(model.decoder_vocab_size), sizeof(float)});
  const std::uint64_t bytes =
      logits ? checked_add(cache, *logits).value_or(~std::uint64_t{0}) : ~std::uint64_t{0};
  // Asking the system is a few file reads; caches of everyday size need no asking.
  if (bytes > (std::uint64_t{256} << 20)) {
    require_memory(bytes, fmt::format("the cache of keys and values for {} sentences at a time, {} "
                                      "beams and up to {} tokens each",
                                      source.sentences(), decode.num_beams, steps));
  }
}

}  // namespace

IncrementalDecoder make_decoder(const Transformer& model, const EncodedSource& encoded,
                                const PackedTokens& source, const DecodeConfig& decode,
                                AttentionObserver* observer) {
  const Index steps = longest(decode, model.config(), source);
  const Index rows = source.sentences() * decode.num_beams;
  return {model, encoded, rows, steps, observer};
}

namespace {

SearchResults search_here(const Transformer& model, const PackedTokens& source,
                          const DecodeConfig& decode, const SearchWatch& watch) {
  return decode.num_beams == 1 && watch.trace == nullptr
             ? greedy_search(model, source, decode, watch.observer)
             : beam_search(model, source, decode, watch);
}

/// One part of the batch a thread, from the encoder to the last step. Threads that share every
/// product must meet some forty times a step, and a machine busy with other work makes each meeting
/// wait for its scheduler; threads with their own sentences meet once. Bits are the same: no row
/// depends on its neighbours.
SearchResults search_in_parts(const Transformer& model, const PackedTokens& source,
                              const DecodeConfig& decode) {
  // Sentences are dealt out by length, so that the parts take about as long.
  std::vector<std::size_t> order(static_cast<std::size_t>(source.sentences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return source.length(static_cast<Index>(a)) > source.length(static_cast<Index>(b));
  });
  const auto parts = std::min(static_cast<std::size_t>(threads()), order.size());
  SearchResults results(order.size());
  constexpr Index kMuch = Index{1} << 40;  // always worth a thread
  parallel_for(static_cast<Index>(parts), kMuch, [&](Index index) {
    const auto part = static_cast<std::size_t>(index);
    PackedTokens own;
    for (std::size_t i = part; i < order.size(); i += parts) own.add(source, order[i]);
    SearchResults found = search_here(model, own, decode, {});
    for (std::size_t i = part; i < order.size(); i += parts) {
      results[order[i]] = std::move(found[i / parts]);
    }
  });
  return results;
}

}  // namespace

Index most_tokens(const DecodeConfig& decode, const ModelConfig& model, Index source_length) {
  const Index wanted = decode.max_new_tokens > 0 ? decode.max_new_tokens : 2 * source_length + 10;
  return std::min<Index>(wanted, model.max_positions);
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
  const float score = sum / length_power(static_cast<Index>(length), length_penalty);
  require_finite_score(score, length_penalty);
  return score;
}

SearchResults search(const Transformer& model, const PackedTokens& source,
                     const DecodeConfig& decode, const SearchWatch& watch) {
  if (source.sentences() == 0) return {};
  require_room(decode, model.config(), source);
  const bool watched = watch.trace != nullptr || watch.observer != nullptr;
  if (!watched && source.sentences() > 1 && may_use_threads()) {
    return search_in_parts(model, source, decode);
  }
  return search_here(model, source, decode, watch);
}

}  // namespace attn
