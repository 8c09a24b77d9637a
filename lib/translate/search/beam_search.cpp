#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "translate/search/beam_search.h"
#include "translate/search/sentence_search.h"

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
void offer_row(std::span<const float> row, const LogSoftmax& normal, float running_score,
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

class BeamSearch : public SentenceSearch {
 public:
  BeamSearch(const SearchRules& rules, std::span<const int> source, Index max_generated_tokens,
             const BeamTrace& traced)
      : SentenceSearch(rules, source, max_generated_tokens),
        beam_(rules.decode, rules.ends, max_generated_tokens),
        trace_(traced) {}

  /// Before the first step all beams are the same hypothesis: one row serves them.
  void add_rows(const SentenceRows& before, StepInput& rows) const override {
    const std::vector<SentenceBeam::Running>& running = beam_.running();
    if (running.front().ids.empty()) return rows.add(rules().start, 0, before.slot);
    const bool parents_share = running.front().ids.size() == 1;
    for (const SentenceBeam::Running& one : running) {
      rows.add(one.ids.back(), before.first + (parents_share ? 0 : one.parent), before.slot);
    }
  }

  void choose(EnsembleDecoder& decoder, Index first) override {
    beam_.advance(best_candidates(decoder, first).best(), trace_.trace, trace_.sentence);
  }

  bool done() const override { return beam_.done(); }

  std::vector<SearchHypothesis> results() const override {
    return beam_.results(rules().decode.num_return_sequences);
  }

 private:
  /// The best continuations of the running beams.
  BestCandidates best_candidates(EnsembleDecoder& decoder, Index first) const {
    const LogitsProcessor& processor = rules().processor;
    BestCandidates best(beam_.candidates_needed());
    RowScores scores;
    for (std::size_t i = 0; i < beam_.running().size(); ++i) {
      const SentenceBeam::Running& running = beam_.running()[i];
      const auto produced = std::ssize(running.ids);
      if (i == 0 || produced > 0) {
        scores = decoder.scores(processor, context(running.ids), first + to_index(i));
      }
      const auto& [row, normal] = scores;
      if (!normal.finite) throw_non_finite_logits(rules().models, produced);
      if (const auto forced = processor.forced_token(produced, max_generated_tokens())) {
        // Everything else is −∞; the forced token's own log-probability counts 0.
        best.offer({running.score, to_index(i), *forced});
        if (produced + 1 < max_generated_tokens()) continue;
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

  SentenceBeam beam_;
  BeamTrace trace_;
};

}  // namespace

std::unique_ptr<SentenceSearch> beam_search(const SearchRules& rules, std::span<const int> source,
                                            Index max_generated_tokens, const BeamTrace& traced) {
  return std::make_unique<BeamSearch>(rules, source, max_generated_tokens, traced);
}

}  // namespace attn
