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
#include "translate/search/term_search.h"

namespace attn {
namespace {

std::vector<std::size_t> longest_first(const PackedTokens& source) {
  std::vector<std::size_t> order(to_size(source.sentences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t b) { return source.length(to_index(b)); });
  return order;
}

/// Throws MemoryError if the keys, values and logits of the longest `max_active` sentences (0: of
/// all) would not fit for all models together, however many threads share them.
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
  // Asking the system costs a few file reads, so small caches are not checked.
  if (needed > (std::uint64_t{256} << 20)) {
    require_memory(needed,
                   fmt::format("the KV cache for {} sentences at a time, "
                               "{} beams and up to {} tokens each",
                               order.size(), rules.hypotheses(),
                               max_generated_tokens(rules.decode, models,
                                                    source.length(to_index(order.front())))));
  }
}

/// Searches some sentences of a batch together, on one thread or with threads that share each
/// matrix multiplication.
class BatchSearch {
 public:
  /// `order` lists the sentences to search, in the order in which they join.
  BatchSearch(const Ensemble& models, const PackedTokens& source, const SearchRules& rules,
              std::span<const std::size_t> order)
      : models_(models), source_(source), rules_(rules), order_(order) {}

  /// Stores what is found in `results`, at each sentence's index.
  void run(const SearchContext& context, SearchResults& results) {
    ContinuousBatch running(models_, context.observer);
    while (joined_ < order_.size() || !running.empty()) {
      throw_if_stopped(context.stop);
      admit_waiting(running, context);
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
  /// The sentence's index in the batch, and its search.
  using Search = std::pair<std::size_t, std::unique_ptr<SentenceSearch>>;

  /// Lets as many sentences join as there is room for. They join in groups, not one by one, because
  /// they are encoded together.
  void admit_waiting(ContinuousBatch& running, const SearchContext& context) {
    const std::size_t most = context.max_active > 0 ? to_size(context.max_active) : order_.size();
    const std::size_t room = most - std::min(most, searches_.size());
    if (joined_ == order_.size() || room < most / 4 || room == 0) return;
    std::vector<SentenceSearch*> joining;
    for (; joined_ < order_.size() && joining.size() < room; ++joined_) {
      const Index b = to_index(order_[joined_]);
      const Index longest = max_generated_tokens(rules_.decode, models_, source_.length(b));
      const bool plain = context.terms.empty() || at(context.terms, b).empty();
      searches_.emplace_back(
          order_[joined_], plain
                               ? sentence_search(rules_, source_.of(b), longest, {context.trace, b})
                               : term_search(rules_, {source_.of(b), at(context.terms, b)}, longest,
                                             {context.trace, b}));
      joining.push_back(searches_.back().second.get());
    }
    running.join(joining, context.encoded);
  }

  const Ensemble& models_;
  const PackedTokens& source_;
  const SearchRules& rules_;
  std::span<const std::size_t> order_;
  std::size_t joined_ = 0;
  std::vector<Search> searches_;
};

/// Searches with each thread on its own part of the batch, from the encoder to the last step.
/// Threads that shared every matrix multiplication would wait for one another about forty times per
/// step, each time for the scheduler of a busy machine; with sentences of their own they wait once.
/// The bits are the same, because no row depends on its neighbors.
void search_in_parts(const Ensemble& models, const PackedTokens& source, const SearchRules& rules,
                     const SearchContext& context, SearchResults& results) {
  // Dealing sentences out by length makes the parts take about the same time.
  const std::vector<std::size_t> order = longest_first(source);
  const auto parts = std::min(to_size(threads()), order.size());
  const SearchContext own{
      .max_active = (context.max_active + to_index(parts) - 1) / to_index(parts),
      .terms = context.terms};
  constexpr Index kMuch =
      std::numeric_limits<Index>::max();  // enough work per part to be worth a thread
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
  // Python computes int ** float in double precision; torch then divides float32 by the result.
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
                     const SearchContext& context) {
  if (source.sentences() == 0) return {};
  if (decode.sampling && context.trace != nullptr) {
    throw InputError("sampled translations have no search tree");
  }
  const SearchRules rules(models, decode);
  require_room(rules, models, source, context.max_active);
  SearchResults results(to_size(source.sentences()));
  const bool one_batch =
      context.trace != nullptr || context.observer != nullptr || context.stop != nullptr;
  if (!one_batch && source.sentences() > 1 && may_use_threads()) {
    search_in_parts(models, source, rules, context, results);
    return results;
  }
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});  // in the order of `encoded`
  if (context.max_active > 0) order = longest_first(source);
  BatchSearch(models, source, rules, order).run(context, results);
  return results;
}

}  // namespace attn
