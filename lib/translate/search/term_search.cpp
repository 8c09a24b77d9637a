#include "translate/search/term_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "base/at.h"
#include "translate/search/beam_search.h"

namespace attn {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// Returns the length of the longest beginning of `form`, shorter than the form, with which `ids`
/// end.
std::size_t begun(const std::vector<int>& form, std::span<const int> ids) {
  for (std::size_t length = std::min(form.size() - 1, ids.size()); length > 0; --length) {
    const std::span<const int> end = ids.last(length);
    if (std::equal(end.begin(), end.end(), form.begin())) return length;
  }
  return 0;
}

/// Returns how often one of the term's forms ends inside `ids` together with its last word, each
/// position counted once.
int count(const SentenceTerm& term, std::span<const int> ids) {
  int found = 0;
  for (std::size_t end = 1; end <= ids.size(); ++end) {
    found += std::ranges::any_of(term.forms, [&](const std::vector<int>& form) {
      return form.size() <= end &&
             std::equal(form.begin(), form.end(), ids.begin() + to_index(end - form.size())) &&
             !(term.continues && end < ids.size() && term.continues(form, ids[end]));
    });
  }
  return found;
}

/// A candidate, and the tokens that its terms still lack.
struct TermCandidate {
  SentenceBeam::Candidate candidate;
  int missing = 0;
};

bool better(const TermCandidate& a, const TermCandidate& b) {
  return a.candidate.score > b.candidate.score;
}

/// Returns the best `beams` candidates, which are best first, with a share for each number of
/// missing tokens. What a group cannot fill goes to the others, first to those with most of their
/// terms.
std::vector<TermCandidate> allocate(const std::vector<TermCandidate>& candidates, int groups,
                                    std::size_t beams) {
  std::vector<std::size_t> there(to_size(groups)), share(to_size(groups), beams / to_size(groups));
  for (const TermCandidate& each : candidates) ++there[to_size(each.missing)];
  std::size_t left = beams;
  for (std::size_t i = 0; i < share.size(); ++i) {
    share[i] = std::min(share[i], there[i]);
    left -= share[i];
  }
  for (std::size_t i = 0; i < share.size(); ++i) {
    const std::size_t more = std::min(left, there[i] - share[i]);
    share[i] += more;
    left -= more;
  }
  std::vector<TermCandidate> chosen;
  for (const TermCandidate& each : candidates) {
    std::size_t& room = share[to_size(each.missing)];
    if (room == 0) continue;
    --room;
    chosen.push_back(each);
  }
  return chosen;
}

class TermSearch : public SentenceSearch {
 public:
  TermSearch(const SearchRules& rules, const TermSource& source, Index max_generated_tokens,
             const BeamTrace& traced)
      : SentenceSearch(rules, source.ids, max_generated_tokens),
        terms_(source.terms),
        groups_(1 + missing_term_tokens(source.terms, {})),
        beam_(rules.decode, rules.ends, max_generated_tokens),
        trace_(traced) {}

  void add_rows(const SentenceRows& before, StepInput& rows) const override {
    beam_.add_rows(rules().start, before, rows);
  }

  void choose(EnsembleDecoder& decoder, Index first) override {
    std::vector<TermCandidate> all;
    const bool start = beam_.running().front().ids.empty();
    for (std::size_t i = 0; i < (start ? 1 : beam_.running().size()); ++i) {
      add_candidates(decoder, first, to_index(i), all);
    }
    std::ranges::stable_sort(all, better);
    advance(all, std::ssize(beam_.running().front().ids) + 1);
  }

  bool done() const override { return beam_.done(); }

  std::vector<SearchHypothesis> results() const override {
    return beam_.results(rules().decode.num_return_sequences);
  }

 private:
  bool ends(int token) const {
    return std::ranges::find(rules().ends, token) != rules().ends.end();
  }

  /// Adds the continuations of beam `i` that may be chosen: its likeliest tokens, and each next
  /// token of a term.
  void add_candidates(EnsembleDecoder& decoder, Index first, Index i,
                      std::vector<TermCandidate>& all) const {
    const SentenceBeam::Running& running = at(beam_.running(), i);
    const auto produced = std::ssize(running.ids);
    const auto [row, normal] = decoder.scores(rules().processor, context(running.ids), first + i);
    if (!normal.finite) throw_non_finite_logits(rules().models, produced);
    std::vector<int> ids = running.ids;
    ids.push_back(0);
    const auto add = [&](int token, float score) {
      if (score == kForbidden) return;
      ids.back() = token;
      all.push_back({{score, i, token}, missing_term_tokens(terms_, ids)});
    };
    if (const auto forced = rules().processor.forced_token(produced, max_generated_tokens())) {
      return add(*forced, running.score);
    }
    for (const int token : tokens_to_try(row, running.ids)) {
      add(token, normal(row[to_size(token)]) + running.score);
    }
  }

  /// Returns the likeliest tokens of a row, as many as there are beams and ends, and the next
  /// tokens of the terms.
  std::set<int> tokens_to_try(std::span<const float> row, std::span<const int> ids) const {
    std::vector<int> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    const auto most = std::min(order.size(), beam_.running().size() + rules().ends.size());
    std::partial_sort(order.begin(), order.begin() + to_index(most), order.end(),
                      [&](int a, int b) {
                        const float of_a = row[to_size(a)], of_b = row[to_size(b)];
                        return of_a != of_b ? of_a > of_b : a < b;
                      });
    std::set<int> tokens(order.begin(), order.begin() + to_index(most));
    for (const SentenceTerm& term : terms_) {
      if (count(term, ids) >= term.times) continue;
      for (const std::vector<int>& form : term.forms) {
        tokens.insert(form.front());
        tokens.insert(form[begun(form, ids)]);
      }
    }
    return tokens;
  }

  /// Continues the beam with the chosen candidates; `produced` counts their tokens.
  void advance(const std::vector<TermCandidate>& all, Index produced) {
    const bool last = produced >= max_generated_tokens();
    const auto beams = beam_.running().size();
    std::vector<TermCandidate> ended, running, hopeless;
    std::size_t complete = 0;
    // At the last position a term may end, unless another token is forced there.
    const Index most = max_generated_tokens();
    const bool forced = rules().processor.forced_token(most - 1, most).has_value();
    const Index room = most - produced - (forced ? 1 : 0);
    for (const TermCandidate& each : all) {
      if (last || ends(each.candidate.token)) {
        // An ending hypothesis must be among the best, as in a search without terms.
        const bool among_best = complete < beams;
        if (each.missing == 0 && among_best) ended.push_back(each);
        if (each.missing > 0 && last) hopeless.push_back(each);
      } else if (each.missing <= room) {
        running.push_back(each);
      } else {
        hopeless.push_back(each);
      }
      complete += each.missing == 0;
    }
    has_complete_ = has_complete_ || !ended.empty();
    if (last && ended.empty() && !has_complete_) ended = std::move(hopeless);
    ended.resize(std::min(ended.size(), beams));
    std::vector<SentenceBeam::Candidate> chosen;
    for (const TermCandidate& each : ended) chosen.push_back(each.candidate);
    for (const TermCandidate& each : allocate(running, groups_, beams)) {
      chosen.push_back(each.candidate);
    }
    const std::size_t full = beams + ended.size();
    // Terms may share tokens, so a term that seems too long may still fit. It gets the remaining
    // room.
    for (std::size_t i = 0; !last && i < hopeless.size() && chosen.size() < full; ++i) {
      chosen.push_back(hopeless[i].candidate);
    }
    // Fill the beams that have no continuation.
    const int filler = rules().ends.empty() ? 0 : rules().ends.front();
    while (chosen.size() < full) chosen.push_back({kForbidden, 0, filler});
    beam_.advance(chosen, trace_.trace, trace_.sentence);
  }

  const SentenceTerms& terms_;
  int groups_;  ///< groups of hypotheses, by the number of tokens that their terms lack
  bool has_complete_ = false;  ///< a translation with all terms has ended
  SentenceBeam beam_;
  BeamTrace trace_;
};

}  // namespace

int missing_term_tokens(const SentenceTerms& terms, std::span<const int> ids) {
  int missing = 0;
  for (const SentenceTerm& term : terms) {
    const int open = term.times - count(term, ids);
    if (open <= 0 || term.forms.empty()) continue;
    std::size_t shortest = term.forms.front().size(), next = shortest;
    for (const std::vector<int>& form : term.forms) {
      shortest = std::min(shortest, form.size());
      next = std::min(next, form.size() - begun(form, ids));
    }
    missing += to_int(next + to_size(open - 1) * shortest);
  }
  return missing;
}

std::unique_ptr<SentenceSearch> term_search(const SearchRules& rules, const TermSource& source,
                                            Index max_generated_tokens, const BeamTrace& traced) {
  return std::make_unique<TermSearch>(rules, source, max_generated_tokens, traced);
}

}  // namespace attn
