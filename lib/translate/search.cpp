#include "translate/search.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "model/incremental_decoder.h"
#include "model/model_directory.h"
#include "translate/beam.h"
#include "translate/logits_processor.h"

namespace attn {
namespace {

std::span<float> row_of(MatrixRef& logits, Index r) {
  return {logits.data() + r * logits.outerStride(), static_cast<std::size_t>(logits.cols())};
}

/// The rows of one step: which sentence each belongs to, what it continues, its token.
struct StepRows {
  std::vector<int> tokens;
  std::vector<Index> parents;
  std::vector<Index> sentences;

  void clear() {
    tokens.clear();
    parents.clear();
    sentences.clear();
  }
  void add(int token, Index parent, Index sentence) {
    tokens.push_back(token);
    parents.push_back(parent);
    sentences.push_back(sentence);
  }
};

IncrementalDecoder make_decoder(const Transformer& model, const EncodedSource& encoded,
                                const PackedTokens& source, const DecodeConfig& decode) {
  Index steps = 1;
  for (Index b = 0; b < source.sentences(); ++b) {
    steps = std::max(steps, most_tokens(decode, model.config(), source.length(b)));
  }
  const Index rows = source.sentences() * decode.num_beams;
  const std::uint64_t bytes =
      IncrementalDecoder::cache_bytes(model.config(), rows, steps, encoded.rows.rows());
  // Asking the system is a few file reads; caches of everyday size need no asking.
  if (bytes > (std::uint64_t{256} << 20)) {
    require_memory(bytes, "the cache of keys and values for this batch (--batch, --beam)");
  }
  return {model, encoded, rows, steps};
}

/// Greedy search keeps one row a sentence that has not ended.
struct GreedySentence {
  std::vector<int> ids;
  float sum = 0;
  Index most = 0;
  bool done = false;
};

/// Chooses one row's next token and adds it, with its log-probability after processing.
void choose_greedily(const LogitsProcessor& processor, const ModelConfig& config,
                     GreedySentence& sentence, std::span<float> row) {
  if (const auto forced =
          processor.forced(static_cast<Index>(sentence.ids.size()), sentence.most)) {
    sentence.ids.push_back(*forced);
  } else {
    RowNormaliser normal = processor.renormalises() ? RowNormaliser{} : normaliser(row);
    processor.forbid(sentence.ids, config.decoder_start_token_id, row);
    if (processor.renormalises()) normal = normaliser(row);
    const Index best = kernels().arg_max(row.data(), static_cast<Index>(row.size()));
    sentence.sum += normal(row[static_cast<std::size_t>(best)]);
    sentence.ids.push_back(static_cast<int>(best));
  }
  sentence.done = sentence.ids.back() == config.eos_token_id ||
                  static_cast<Index>(sentence.ids.size()) >= sentence.most;
}

std::vector<std::vector<SearchHypothesis>> greedy(const Transformer& model,
                                                  const PackedTokens& source,
                                                  const DecodeConfig& decode) {
  const ModelConfig& config = model.config();
  const LogitsProcessor processor(decode, config.eos_token_id, config.decoder_vocab_size);
  const EncodedSource encoded = model.encode(source);
  IncrementalDecoder decoder = make_decoder(model, encoded, source, decode);

  std::vector<GreedySentence> sentences(static_cast<std::size_t>(source.sentences()));
  StepRows rows;
  StepRows next;
  for (Index b = 0; b < source.sentences(); ++b) {
    sentences[static_cast<std::size_t>(b)].most = most_tokens(decode, config, source.length(b));
    rows.add(config.decoder_start_token_id, b, b);
  }
  while (!rows.tokens.empty()) {
    MatrixRef logits = decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = static_cast<Index>(rows.tokens.size());
    parallel_for(count, count * logits.cols() * 8, [&](Index r) {
      GreedySentence& sentence =
          sentences[static_cast<std::size_t>(rows.sentences[static_cast<std::size_t>(r)])];
      choose_greedily(processor, config, sentence, row_of(logits, r));
    });
    next.clear();
    for (Index r = 0; r < count; ++r) {
      const Index b = rows.sentences[static_cast<std::size_t>(r)];
      const GreedySentence& sentence = sentences[static_cast<std::size_t>(b)];
      if (!sentence.done) next.add(sentence.ids.back(), r, b);
    }
    std::swap(rows, next);
  }
  std::vector<std::vector<SearchHypothesis>> results;
  for (const GreedySentence& sentence : sentences) {
    const double length = std::pow(static_cast<double>(sentence.ids.size()),
                                   static_cast<double>(decode.length_penalty));
    results.push_back({{sentence.ids, sentence.sum / static_cast<float>(length)}});
  }
  return results;
}

/// Keeps the best `capacity` candidates seen, best first; equal scores in the order of arrival.
class BestCandidates {
 public:
  explicit BestCandidates(Index capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  float threshold() const {
    return best_.size() < capacity_ ? -std::numeric_limits<float>::infinity() : best_.back().score;
  }
  bool full() const { return best_.size() >= capacity_; }
  void offer(const SentenceBeam::Candidate& candidate) {
    if (full() && !(candidate.score > best_.back().score)) return;
    const auto place =
        std::upper_bound(best_.begin(), best_.end(), candidate,
                         [](const SentenceBeam::Candidate& a, const SentenceBeam::Candidate& b) {
                           return a.score > b.score;
                         });
    best_.insert(place, candidate);
    if (best_.size() > capacity_) best_.pop_back();
  }
  std::span<const SentenceBeam::Candidate> best() const { return best_; }

 private:
  std::size_t capacity_;
  std::vector<SentenceBeam::Candidate> best_;
};

/// Offers every token of a row. Once the list is full, logits that cannot come into it are skipped
/// sixteen at a time: the bound is a little lower than exact, and what passes is compared exactly.
void offer_row(std::span<const float> row, const RowNormaliser& normal, float running_score,
               Index beam, BestCandidates& best) {
  const auto n = static_cast<Index>(row.size());
  const auto bound = [&] {
    if (!best.full()) return -std::numeric_limits<float>::infinity();
    const float exact = best.threshold() - running_score + normal.log_sum + normal.maximum;
    return exact - 1e-4F * (1.0F + std::abs(running_score) + std::abs(normal.maximum));
  };
  // Below capacity even −∞ counts: `generate` fills its list with forbidden tokens, too.
  Index token = 0;
  for (; token < n && !best.full(); ++token) {
    best.offer({normal(row[static_cast<std::size_t>(token)]) + running_score, beam,
                static_cast<int>(token)});
  }
  for (token = kernels().find_above(row.data(), token, n, bound()); token < n;
       token = kernels().find_above(row.data(), token + 1, n, bound())) {
    best.offer({normal(row[static_cast<std::size_t>(token)]) + running_score, beam,
                static_cast<int>(token)});
  }
}

/// The best continuations of one sentence's running beams, whose logits are rows first… of
/// `logits`.
BestCandidates best_candidates(const LogitsProcessor& processor, const ModelConfig& config,
                               const SentenceBeam& beam, MatrixRef& logits, Index first) {
  BestCandidates best(beam.candidates_needed());
  for (std::size_t i = 0; i < beam.running().size(); ++i) {
    const SentenceBeam::Running& running = beam.running()[i];
    const std::span<float> row = row_of(logits, first + static_cast<Index>(i));
    const auto produced = static_cast<Index>(running.ids.size());
    if (const auto forced = processor.forced(produced, beam.most_tokens())) {
      // Everything else is −∞; the forced token's own log-probability counts 0.
      best.offer({running.score, static_cast<Index>(i), *forced});
      for (int token = 0; token < config.decoder_vocab_size && !best.full(); ++token) {
        if (token == *forced) continue;
        best.offer({-std::numeric_limits<float>::infinity(), static_cast<Index>(i), token});
      }
      continue;
    }
    RowNormaliser normal = processor.renormalises() ? RowNormaliser{} : normaliser(row);
    processor.forbid(running.ids, config.decoder_start_token_id, row);
    if (processor.renormalises()) normal = normaliser(row);
    offer_row(row, normal, running.score, static_cast<Index>(i), best);
  }
  return best;
}

std::vector<std::vector<SearchHypothesis>> beam_search(const Transformer& model,
                                                       const PackedTokens& source,
                                                       const DecodeConfig& decode,
                                                       SearchTrace* trace) {
  const ModelConfig& config = model.config();
  const LogitsProcessor processor(decode, config.eos_token_id, config.decoder_vocab_size);
  const EncodedSource encoded = model.encode(source);
  IncrementalDecoder decoder = make_decoder(model, encoded, source, decode);

  std::vector<SentenceBeam> beams;
  std::vector<Index> active;  ///< sentences still searched; their rows stand in this order
  StepRows rows;
  for (Index b = 0; b < source.sentences(); ++b) {
    beams.emplace_back(decode, config.eos_token_id, most_tokens(decode, config, source.length(b)));
    active.push_back(b);
    for (int i = 0; i < decode.num_beams; ++i) rows.add(config.decoder_start_token_id, 0, b);
  }
  while (!active.empty()) {
    MatrixRef logits = decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = static_cast<Index>(active.size());
    std::vector<BestCandidates> best(active.size(), BestCandidates(0));
    parallel_for(count, logits.size() * 8, [&](Index a) {
      const SentenceBeam& beam =
          beams[static_cast<std::size_t>(active[static_cast<std::size_t>(a)])];
      best[static_cast<std::size_t>(a)] =
          best_candidates(processor, config, beam, logits, a * decode.num_beams);
    });
    rows.clear();
    std::vector<Index> still_active;
    for (Index a = 0; a < count; ++a) {
      const Index b = active[static_cast<std::size_t>(a)];
      SentenceBeam& beam = beams[static_cast<std::size_t>(b)];
      beam.advance(best[static_cast<std::size_t>(a)].best(), trace, b);
      if (beam.done()) continue;
      still_active.push_back(b);
      for (const SentenceBeam::Running& running : beam.running()) {
        rows.add(running.ids.back(), a * decode.num_beams + running.parent, b);
      }
    }
    active = std::move(still_active);
  }
  std::vector<std::vector<SearchHypothesis>> results;
  for (const SentenceBeam& beam : beams)
    results.push_back(beam.results(decode.num_return_sequences));
  return results;
}

using Results = std::vector<std::vector<SearchHypothesis>>;

Results search_here(const Transformer& model, const PackedTokens& source,
                    const DecodeConfig& decode) {
  return decode.num_beams == 1 ? greedy(model, source, decode)
                               : beam_search(model, source, decode, nullptr);
}

/// One part of the batch a thread, from the encoder to the last step. Threads that share every
/// product must meet some forty times a step, and a machine busy with other work makes each meeting
/// wait for its scheduler; threads with their own sentences meet once. Bits are the same: no row
/// depends on its neighbours.
Results search_in_parts(const Transformer& model, const PackedTokens& source,
                        const DecodeConfig& decode) {
  // Sentences are dealt out by length, so that the parts take about as long.
  std::vector<std::size_t> order(static_cast<std::size_t>(source.sentences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return source.length(static_cast<Index>(a)) > source.length(static_cast<Index>(b));
  });
  const auto parts = std::min(static_cast<std::size_t>(threads()), order.size());
  Results results(order.size());
  std::vector<std::exception_ptr> errors(parts);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t part = 0; part < parts; ++part) {
    try {
      PackedTokens own;
      for (std::size_t i = part; i < order.size(); i += parts) own.add(source, order[i]);
      Results found = search_here(model, own, decode);
      for (std::size_t i = part; i < order.size(); i += parts) {
        results[order[i]] = std::move(found[i / parts]);
      }
    } catch (...) {
      errors[part] = std::current_exception();
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return results;
}

}  // namespace

Index most_tokens(const DecodeConfig& decode, const ModelConfig& model, Index source_length) {
  const Index wanted = decode.max_new_tokens > 0 ? decode.max_new_tokens : 2 * source_length + 10;
  return std::min<Index>(wanted, model.max_positions);
}

std::vector<std::vector<SearchHypothesis>> search(const Transformer& model,
                                                  const PackedTokens& source,
                                                  const DecodeConfig& decode, SearchTrace* trace) {
  if (source.sentences() == 0) return {};
  if (trace != nullptr) return beam_search(model, source, decode, trace);
  if (source.sentences() > 1 && may_use_threads()) return search_in_parts(model, source, decode);
  return search_here(model, source, decode);
}

}  // namespace attn
