// Gradients of a word's score with respect to the scaled token embeddings, and integrated gradients
// (Sundararajan et al. 2017), by the backward pass that training uses.
//
// Row n of every matrix belongs to step steps[n], which writes words[steps[n]]. Source matrices
// have a column for each source token, decoder-input matrices one for each token of the decoder's
// input. A step reads no later tokens of that input, so their entries are 0.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "compute/tensor.h"
#include "model/transformer.h"

namespace attn {

/// The scores to explain, of a translation given in full (teacher forcing). S source tokens, T
/// steps.
struct WordScores {
  std::vector<int> source;         ///< [S] ids, </s> included
  std::vector<int> decoder_input;  ///< [T] ids: the start token and the target without its last
  std::vector<int> words;          ///< [T] the token that each step writes
  /// [T] The score of a step is log p(word) − log p(foil), which is the difference of their logits.
  /// Empty: the score is log p(word).
  std::vector<int> foils = {};
  std::vector<Index> steps = {};  ///< the steps to explain; empty: all
};

/// With x the scaled embedding of a token and g the gradient of the score there. N steps.
struct EmbeddingGradients {
  std::vector<Index> steps;    ///< [N]
  std::vector<double> scores;  ///< [N] natural logarithm
  Matrix source_dot;           ///< [N, S] x · g: signed, and nearly random as an explanation
  Matrix source_l2;            ///< [N, S] ‖x ⊙ g‖₂
  Matrix source_grad_l2;       ///< [N, S] ‖g‖₂
  Matrix target_dot;           ///< [N, T]
  Matrix target_l2;            ///< [N, T]
  Matrix target_grad_l2;       ///< [N, T]
};

/// The start of an integration, and its number of steps.
struct IntegrationOptions {
  int unk = 1;  ///< replaces every token of the baseline but </s> in the source and the start token
  int steps = 64;         ///< points of the midpoint rule
  double max_gap = 0.01;  ///< a step whose gap is larger is integrated again with twice the points…
  int max_steps = 512;    ///< …as long as they are no more than these
};

/// (x − x₀) ⊙ the mean gradient on the straight line from the baseline x₀ to x. Both sequences move
/// together; positions stay. N steps.
struct IntegratedGradients {
  std::vector<Index> steps;         ///< [N]
  std::vector<int> points;          ///< [N] of the midpoint rule
  std::vector<double> differences;  ///< [N] score(x) − score(x₀)
  std::vector<double> deltas;       ///< [N] sum of all entries − difference; 0 would be exact
  Matrix source_dot;                ///< [N, S] sum over the embedding's columns
  Matrix source_l2;                 ///< [N, S] ‖·‖₂ over the embedding's columns
  Matrix target_dot;                ///< [N, T]
  Matrix target_l2;                 ///< [N, T]

  /// Returns |delta| / |difference| of row n: the share that the entries do not account for.
  double gap(std::size_t n) const;
};

class GradientBatches;

/// A model with a backward pass. Holds three copies of its weights. Use it on one thread at a time.
class WordGradients {
 public:
  /// Supports every model that can be trained, which is every family. Throws MemoryError if the
  /// copies do not fit.
  explicit WordGradients(const Transformer& model);
  ~WordGradients();
  WordGradients(const WordGradients&) = delete;
  WordGradients& operator=(const WordGradients&) = delete;

  /// Throws InputError for sequences of different lengths, steps, words and foils that do not
  /// exist, a foil that is the word itself, and sentences that are too long; MemoryError if the
  /// sentence needs too much memory.
  EmbeddingGradients gradients(const WordScores& scores);
  /// Returns the gradients of several scores, which must have the same source, decoder input and
  /// steps: they share the forward pass.
  std::vector<EmbeddingGradients> gradients(std::span<const WordScores> scores);
  /// Throws the same, and InputError for an id `unk` outside the vocabulary and for step counts
  /// below 1.
  IntegratedGradients integrated(const WordScores& scores, const IntegrationOptions& options);
  /// The same for several scores, which share the forward passes.
  std::vector<IntegratedGradients> integrated(std::span<const WordScores> scores,
                                              const IntegrationOptions& options);

 private:
  std::unique_ptr<GradientBatches> batches_;
};

/// Keeps the copy of a model's weights between questions, because making it takes longer than the
/// gradients of a short sentence. Copies of large models are not kept.
class KeptGradients {
 public:
  /// Calls use(gradients), one thread at a time. `model` must be the same every time.
  template <typename Use>
  void with(const Transformer& model, Use&& use) {
    const std::lock_guard lock(mutex_);
    if (!kept_) kept_ = std::make_unique<WordGradients>(model);
    use(*kept_);
    if (is_large(model)) kept_.reset();
  }

 private:
  static bool is_large(const Transformer& model);

  std::mutex mutex_;
  std::unique_ptr<WordGradients> kept_;
};

}  // namespace attn
