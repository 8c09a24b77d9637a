// The bookkeeping of beam search for one sentence, as in transformers' vectorized beam search
// (generation/utils.py, _beam_search), in the same float32 arithmetic.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "translate/search/search.h"

namespace attn {

struct SentenceRows;
struct StepInput;

class SentenceBeam {
 public:
  struct Running {
    std::vector<int> ids;
    float score = 0;   ///< accumulated log-probability; −1e9 marks an empty beam
    Index parent = 0;  ///< row it continues, within this sentence
  };
  struct Candidate {
    float score = 0;
    Index beam = 0;
    int token = 0;
  };

  SentenceBeam(const DecodeConfig& decode, std::vector<int> ends, Index max_generated_tokens);

  const std::vector<Running>& running() const { return running_; }
  Index max_generated_tokens() const { return max_generated_tokens_; }
  bool done() const { return done_; }

  /// Returns how many candidates over all beams a step needs, so that enough continue even if each
  /// beam ends with every end token.
  Index candidates_needed() const { return std::max<Index>(2, 1 + std::ssize(ends_)) * beams_; }

  /// Adds the rows of the next step, which begins with the token `start`. Before the first step all
  /// beams are the same hypothesis, so one row is enough.
  void add_rows(int start, const SentenceRows& before, StepInput& rows) const;

  /// Takes the candidates, best first: those that end are added to the finished list, and the best
  /// others continue. Decides if the sentence is done.
  void advance(std::span<const Candidate> best, SearchTrace* trace, Index sentence);

  /// Returns the finished hypotheses, best first.
  std::vector<SearchHypothesis> results(Index count) const;

 private:
  struct Finished {
    std::vector<int> ids;
    float score = -1e9F;
    bool is_finished = false;
  };

  bool ends(const Candidate& candidate) const;
  void merge_finished(std::span<const Candidate> best);
  void choose_running(std::span<const Candidate> best);
  bool can_improve() const;

  DecodeConfig decode_;
  std::vector<int> ends_;  ///< tokens that end a hypothesis
  Index beams_;
  Index max_generated_tokens_;
  Index produced_ = 0;  ///< number of tokens of every running beam
  bool improvement_possible_ = true;
  bool done_ = false;
  std::vector<Running> running_;
  std::vector<Finished> finished_;  ///< always `beams_` elements, best first
};

}  // namespace attn
