#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/at.h"
#include "translate/search/beam.h"
#include "translate/search/logits_processor.h"
#include "translate/search/search_steps.h"

namespace attn {
namespace {

/// Keeps the best `capacity` candidates seen, best first; equal scores in the order of arrival.
class BestCandidates {
 public:
  explicit BestCandidates(Index capacity) : capacity_(to_size(capacity)) {}

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

/// Offers every token of a row to the list. Once that is full, logits below a bound are skipped
/// sixteen at a time; the bound is a little too low, and what passes it is compared exactly.
void offer_row(std::span<const float> row, const RowNormaliser& normal, float running_score,
               Index beam, BestCandidates& best) {
  const auto n = std::ssize(row);
  const auto bound = [&] {
    if (!best.full()) return -std::numeric_limits<float>::infinity();
    const float exact = best.threshold() - running_score + normal.log_sum + normal.maximum;
    return exact - 1e-4F * (1.0F + std::abs(running_score) + std::abs(normal.maximum));
  };
  // Below capacity even −∞ counts: `generate` fills its list with forbidden tokens, too.
  Index token = 0;
  for (; token < n && !best.full(); ++token) {
    best.offer({normal(at(row, token)) + running_score, beam, to_int(token)});
  }
  for (token = kernels().find_above(row.data(), token, n, bound()); token < n;
       token = kernels().find_above(row.data(), token + 1, n, bound())) {
    best.offer({normal(at(row, token)) + running_score, beam, to_int(token)});
  }
}

/// One sentence of a step.
struct SearchedSentence {
  const SentenceBeam& beam;
  std::span<const int> source;
  Index first_row;  ///< the decoder's rows of its hypotheses begin there
};

/// The best continuations of one sentence's running beams. `finite` becomes false where the logits
/// are not.
BestCandidates best_candidates(const LogitsProcessor& processor, EnsembleDecoder& decoder,
                               const SearchedSentence& sentence, bool& finite) {
  const auto& [beam, source, first_row] = sentence;
  BestCandidates best(beam.candidates_needed());
  for (std::size_t i = 0; i < beam.running().size(); ++i) {
    const SentenceBeam::Running& running = beam.running()[i];
    const auto [row, normal] =
        decoder.scores(processor, {running.ids, source}, first_row + to_index(i));
    finite = finite && normal.finite;
    const auto produced = std::ssize(running.ids);
    if (const auto forced = processor.forced(produced, beam.most_tokens())) {
      // Everything else is −∞; the forced token's own log-probability counts 0.
      best.offer({running.score, to_index(i), *forced});
      if (produced + 1 < beam.most_tokens()) continue;
      for (int token = 0; to_size(token) < row.size() && !best.full(); ++token) {
        if (token == *forced) continue;
        best.offer({-std::numeric_limits<float>::infinity(), to_index(i), token});
      }
      continue;
    }
    offer_row(row, normal, running.score, to_index(i), best);
  }
  return best;
}

}  // namespace

SearchResults beam_search(const Ensemble& models, const PackedTokens& source,
                          const DecodeConfig& decode, const SearchWatch& watch) {
  const ModelConfig& config = models.config();
  const std::vector<int> ends = ends_of(decode, config);
  const LogitsProcessor processor(decode, ends, config.decoder_vocab_size);
  EnsembleDecoder decoder(models, source, source.sentences() * decode.num_beams,
                          most_steps(decode, models, source), watch);

  std::vector<SentenceBeam> beams;
  std::vector<Index> active;  ///< sentences still searched; their rows stand in this order
  StepRows rows;
  const int start = start_of(decode, config);
  decoder.start_with(start);
  for (Index b = 0; b < source.sentences(); ++b) {
    beams.emplace_back(decode, ends, most_tokens(decode, models, source.length(b)));
    active.push_back(b);
    for (int i = 0; i < decode.num_beams; ++i) rows.add(start, 0, b);
  }
  while (!active.empty()) {
    stop_if_asked(watch.stop);
    decoder.step(rows.tokens, rows.parents, rows.sentences);
    const auto count = std::ssize(active);
    std::vector<BestCandidates> best(active.size(), BestCandidates(0));
    std::vector<std::uint8_t> finite(active.size(), 0);
    parallel_for(count, decoder.size() * 8, [&](Index a) {
      const Index b = at(active, a);
      bool all_finite = true;
      at(best, a) = best_candidates(processor, decoder,
                                    {at(beams, b), source.of(b), a * decode.num_beams}, all_finite);
      at(finite, a) = all_finite ? 1 : 0;
    });
    if (std::ranges::find(finite, 0) != finite.end()) {
      const SentenceBeam& beam = at(beams, active.front());
      refuse_logits(models.name(), std::ssize(beam.running().front().ids));
    }
    rows.clear();
    std::vector<Index> still_active;
    for (Index a = 0; a < count; ++a) {
      const Index b = at(active, a);
      SentenceBeam& beam = at(beams, b);
      beam.advance(at(best, a).best(), watch.trace, b);
      if (beam.done()) continue;
      still_active.push_back(b);
      for (const SentenceBeam::Running& running : beam.running()) {
        rows.add(running.ids.back(), a * decode.num_beams + running.parent, b);
      }
    }
    active = std::move(still_active);
  }
  SearchResults results;
  for (const SentenceBeam& beam : beams)
    results.push_back(beam.results(decode.num_return_sequences));
  return results;
}

}  // namespace attn
