// Batches of sentences, each with the gradient of one step's score at its token embeddings.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/training/trainable_stacks.h"
#include "nn/linear.h"
#include "why/gradients.h"

namespace attn {

/// One sentence of a batch: a step, and a point on the line from the baseline (0) to the tokens
/// (1).
struct Example {
  Index step = 0;
  double point = 1;
};

/// The differences baseline − tokens of the scaled embeddings.
struct Baseline {
  Matrix source;         ///< [S, D]
  Matrix decoder_input;  ///< [T, D]
};

/// The gradients of one example: all source rows, and the decoder's rows up to its step.
struct ExampleGradient {
  double score = 0;
  ConstMatrixRef source;         ///< [S, D]
  ConstMatrixRef decoder_input;  ///< [step + 1, D]
};

/// A copy of a model with the memory for its backward pass.
class GradientBatches {
 public:
  using Use = std::function<void(std::size_t score, std::size_t n, const ExampleGradient&)>;

  /// Throws MemoryError if the copy does not fit.
  explicit GradientBatches(const Transformer& model);

  // Both saturate at 2⁶⁴ − 1.

  /// Returns the bytes of the copy.
  static std::uint64_t bytes(const ModelConfig& config);
  /// Returns the bytes of the largest batch of at most `examples` examples of this size.
  static std::uint64_t batch_bytes(const ModelConfig& config, std::size_t source, std::size_t steps,
                                   std::size_t examples);

  const ModelConfig& config() const { return trainable_.config(); }

  /// Returns the scaled embeddings of a stack's tokens.
  Matrix embeddings(bool encoder, std::span<const int> ids) const;

  // `scores` are of the same source and decoder input, whose forward pass they share.

  /// Calls use(score, i, gradient) for every score of every example, a batch at a time. `baseline`
  /// may be null if all points are 1.
  void run(std::span<const WordScores> scores, std::span<const Example> examples,
           const Baseline* baseline, const Use& use);

  /// Calls use(score, n, gradient) of steps[score][n] at every point. All steps of a point share
  /// one forward pass.
  void run_line(std::span<const WordScores> scores, std::span<const std::vector<Index>> steps,
                std::span<const double> points, const Baseline& baseline, const Use& use);

 private:
  static bool check_memory(const ModelConfig& config);
  /// Returns how many of the examples form the next batch, and checks its memory.
  std::size_t batch_size(const WordScores& scores, std::span<const Example> examples) const;
  /// Makes the batch of these examples.
  void fill(const WordScores& scores, std::span<const Example> examples);
  /// Moves every example of the batch to its point.
  void shift(std::span<const Example> examples, const Baseline& baseline);
  /// Returns the decoder's last rows [T, D].
  ConstMatrixRef forward(bool shifted);
  /// Runs the backward pass from the examples' steps, whose rows are in `hidden`. Calls
  /// use(i, gradient) for each example.
  template <typename UseExample>
  void backward(const WordScores& scores, std::span<const Example> examples,
                const ConstMatrixRef& hidden, UseExample&& use);

  // From `last` [B, D], the hidden rows that write the words, to scores and their gradients
  // `dlast`.

  /// log p(word), whose gradient at the logits is onehot(word) − softmax.
  std::vector<double> log_probabilities(const WordScores& scores, std::span<const Example> examples,
                                        const Matrix& last, Matrix& dlast) const;
  /// logit(word) − logit(foil).
  std::vector<double> contrasts(const WordScores& scores, std::span<const Example> examples,
                                const Matrix& last, Matrix& dlast) const;
  float bias(Index word) const;

  bool memory_checked_;  ///< before the members below allocate
  TrainableModel trainable_;
  TrainableStacks stacks_;
  TrainableLinear output_;
  PackedTokens source_;  ///< of the current batch
  PackedTokens target_;
  Matrix source_shift_;  ///< [S, D] baseline − tokens, as far as each example has moved
  Matrix target_shift_;  ///< [T, D]
  Matrix dhidden_;       ///< [T, D]
};

}  // namespace attn
