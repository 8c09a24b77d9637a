#include "translate/search/beam_search.h"

#include <algorithm>
#include <numeric>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

constexpr float kNone = -1e9F;  ///< `generate`'s score of a beam that must not win

}  // namespace

SentenceBeam::SentenceBeam(const DecodeConfig& decode, std::vector<int> ends, Index max_generated_tokens)
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
  return std::ranges::find(ends_, candidate.token) != ends_.end() || produced_ + 1 >= max_generated_tokens_;
}

void SentenceBeam::merge_finished(std::span<const Candidate> best) {
  const bool full = std::all_of(finished_.begin(), finished_.end(),
                                [](const Finished& f) { return f.is_finished; });
  const float length = length_penalty_divisor(produced_ + 1, decode_.length_penalty);
  for (std::size_t i = 0; i < best.size(); ++i) {
    // Of the 2 · beams_ candidates only the first `beams_` may end as results, as in `generate`;
    // the others are there so that enough go on.
    if (i >= to_size(beams_) || !ends(best[i])) continue;
    float score = best[i].score / length;
    if (full && decode_.early_stopping == EarlyStopping::yes) score += kNone;
    if (!improvement_possible_) score += kNone;
    std::vector<int> ids = at(running_, best[i].beam).ids;
    ids.push_back(best[i].token);
    finished_.push_back({std::move(ids), score, true});
  }
  std::stable_sort(finished_.begin(), finished_.end(), [](const Finished& a, const Finished& b) {
    // At equal scores a hypothesis stands before a place that is still empty.
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
  const float best = running_.front().score / length_penalty_divisor(length, decode_.length_penalty);
  float worst = finished_.front().score;
  for (const Finished& f : finished_) worst = std::min(worst, f.score);
  return std::any_of(finished_.begin(), finished_.end(),
                     [&](const Finished& f) { return best > (f.is_finished ? worst : kNone); });
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
        "length_penalty {}: no translation's score reaches the {:g} of an empty place; use one "
        "nearer to 0",
        decode_.length_penalty, static_cast<double>(kNone));
  }
  return results;
}

}  // namespace attn
