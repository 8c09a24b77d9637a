#include "translate/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/at.h"
#include "base/error.h"
#include "translate/search/continuous_batch.h"

namespace attn {
namespace {

/// Keeps the best `capacity` candidates seen, best first. Candidates with equal scores stay in
/// order of arrival.
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

/// Offers every token of a row to the list. Once the list is full, logits below a bound are
/// skipped sixteen at a time. The bound is slightly too low; logits above it are compared exactly.
void offer_row(std::span<const float> row, const LogSoftmax& normal, float running_score,
               Index beam, BestCandidates& best) {
  const auto n = std::ssize(row);
  const auto bound = [&] {
    if (!best.full()) return -std::numeric_limits<float>::infinity();
    const float exact = best.threshold() - running_score + normal.log_sum + normal.maximum;
    return exact - 1e-4F * (1.0F + std::abs(running_score) + std::abs(normal.maximum));
  };
  // Until the list is full, even −∞ is accepted: `generate` also fills its list with forbidden
  // tokens.
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

  void add_rows(const SentenceRows& before, StepInput& rows) const override {
    beam_.add_rows(rules().start, before, rows);
  }

  void choose(EnsembleDecoder& decoder, Index first) override {
    beam_.advance(best_candidates(decoder, first).best(), trace_.trace, trace_.sentence);
  }

  bool done() const override { return beam_.done(); }

  std::vector<SearchHypothesis> results() const override {
    return beam_.results(rules().decode.num_return_sequences);
  }

 private:
  /// Returns the best continuations of the running beams.
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
        // All other tokens have −∞; the forced token's own log-probability counts as 0.
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

namespace {

constexpr float kNone = -1e9F;  ///< `generate`'s score for a beam that must not win

}  // namespace

SentenceBeam::SentenceBeam(const DecodeConfig& decode, std::vector<int> ends,
                           Index max_generated_tokens)
    : decode_(decode),
      ends_(std::move(ends)),
      beams_(decode.num_beams),
      max_generated_tokens_(max_generated_tokens),
      running_(to_size(beams_)),
      finished_(to_size(beams_)) {
  // Before the first step all beams are the same hypothesis: only the first one counts.
  for (std::size_t i = 1; i < running_.size(); ++i) running_[i].score = kNone;
}

bool SentenceBeam::ends(const Candidate& candidate) const {
  return std::ranges::find(ends_, candidate.token) != ends_.end() ||
         produced_ + 1 >= max_generated_tokens_;
}

void SentenceBeam::merge_finished(std::span<const Candidate> best) {
  const bool full = std::all_of(finished_.begin(), finished_.end(),
                                [](const Finished& f) { return f.is_finished; });
  const float length = length_penalty_divisor(produced_ + 1, decode_.length_penalty);
  for (std::size_t i = 0; i < best.size(); ++i) {
    // Only the first `beams_` of the 2 · beams_ candidates may end as results, as in `generate`;
    // the others ensure that enough beams continue.
    if (i >= to_size(beams_) || !ends(best[i])) continue;
    float score = best[i].score / length;
    if (full && decode_.early_stopping == EarlyStopping::yes) score += kNone;
    if (!improvement_possible_) score += kNone;
    std::vector<int> ids = at(running_, best[i].beam).ids;
    ids.push_back(best[i].token);
    finished_.push_back({std::move(ids), score, true});
  }
  std::stable_sort(finished_.begin(), finished_.end(), [](const Finished& a, const Finished& b) {
    // With equal scores, a hypothesis ranks before a slot that is still empty.
    return a.score != b.score ? a.score > b.score : a.is_finished && !b.is_finished;
  });
  finished_.resize(to_size(beams_));
}

void SentenceBeam::choose_running(std::span<const Candidate> best) {
  std::vector<std::size_t> order(best.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto running_score = [&](std::size_t i) {
    return best[i].score + (ends(best[i]) ? kNone : 0.0F);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return running_score(a) > running_score(b);
  });
  std::vector<Running> next(to_size(beams_));
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Candidate& c = best[order[i]];
    next[i].ids = at(running_, c.beam).ids;
    next[i].ids.push_back(c.token);
    next[i].score = running_score(order[i]);
    next[i].parent = c.beam;
  }
  running_ = std::move(next);
}

bool SentenceBeam::can_improve() const {
  const bool hope_for_length =
      decode_.early_stopping == EarlyStopping::never && decode_.length_penalty > 0.0F;
  const Index length = hope_for_length ? max_generated_tokens_ : produced_;
  const float best =
      running_.front().score / length_penalty_divisor(length, decode_.length_penalty);
  float worst = finished_.front().score;
  for (const Finished& f : finished_) worst = std::min(worst, f.score);
  return std::any_of(finished_.begin(), finished_.end(),
                     [&](const Finished& f) { return best > (f.is_finished ? worst : kNone); });
}

void SentenceBeam::add_rows(int start, const SentenceRows& before, StepInput& rows) const {
  if (running_.front().ids.empty()) return rows.add(start, 0, before.slot);
  const bool parents_share = running_.front().ids.size() == 1;
  for (const Running& one : running_) {
    rows.add(one.ids.back(), before.first + (parents_share ? 0 : one.parent), before.slot);
  }
}

void SentenceBeam::advance(std::span<const Candidate> best, SearchTrace* trace, Index sentence) {
  const bool all_end =
      std::all_of(best.begin(), best.end(), [&](const Candidate& c) { return ends(c); });
  std::vector<SearchTrace::Candidate> seen;
  if (trace != nullptr) {
    for (const Candidate& c : best) seen.push_back({c.beam, c.token, c.score, ends(c), false});
  }
  merge_finished(best);
  choose_running(best);
  if (trace != nullptr) {
    for (SearchTrace::Candidate& c : seen) {
      c.kept = std::any_of(running_.begin(), running_.end(), [&](const Running& r) {
        return !c.ended && r.parent == c.parent && r.ids.back() == c.token;
      });
    }
    trace->step(sentence, produced_, seen);
  }
  ++produced_;
  improvement_possible_ = improvement_possible_ && can_improve();
  const bool all_finished = std::all_of(finished_.begin(), finished_.end(),
                                        [](const Finished& f) { return f.is_finished; });
  done_ = !improvement_possible_ || all_end ||
          (all_finished && decode_.early_stopping == EarlyStopping::yes);
}

std::vector<SearchHypothesis> SentenceBeam::results(Index count) const {
  std::vector<SearchHypothesis> results;
  for (std::size_t i = 0; i < to_size(count) && i < finished_.size(); ++i) {
    if (!finished_[i].is_finished) continue;
    require_finite_score(finished_[i].score, decode_.length_penalty);
    results.push_back({finished_[i].ids, finished_[i].score});
  }
  if (results.empty() && decode_.length_penalty < 0) {
    throw InputError(
        "length_penalty {}: every translation scores below {:g}, the score of an empty beam; use "
        "one nearer to 0",
        decode_.length_penalty, static_cast<double>(kNone));
  }
  return results;
}

}  // namespace attn
