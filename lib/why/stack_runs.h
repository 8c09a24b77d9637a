// Batches of runs that begin at any layer, from states that the caller has changed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/global_tokens.h"
#include "model/layers.h"
#include "model/transformer.h"

namespace attn {

/// Encoder runs over `count` sentences of one length. S tokens and R rows of all sentences.
class EncoderRuns {
 public:
  /// `model` must outlive the runs.
  EncoderRuns(const Transformer& model, Index count, Index length);

  /// Returns the input of the first layer [R, D] for one sentence. The rows of the model's learned
  /// global tokens (Pegasus-X) precede those of each sentence.
  Matrix embed(std::span<const int> ids);
  /// Applies a layer to x [R, D] in place.
  void layer(Index index, Matrix& x);
  /// Returns the rows [S, D] that the decoder reads, from the last layer's output [R, D].
  Matrix finish(Matrix x);

 private:
  StackRun run();

  const ModelConfig& config_;
  const ModelParameters& parameters_;
  PackedTokens tokens_;
  std::vector<Index> positions_;
  AttentionPositionEncoding position_encoding_;
  std::unique_ptr<const GlobalTokenRows> layout_;  ///< null: no learned global tokens
  std::vector<AttentionGroup> groups_;
  Index rows_ = 0;
  Workspace work_;
};

/// Decoder runs over `count` inputs of one length. T tokens of all inputs.
class DecoderRuns {
 public:
  /// The encoder's output that the runs read.
  struct Source {
    const Matrix& rows;  ///< [S, D] for all runs together, or [count · S, D]; must outlive the runs
    Index length;        ///< S
  };

  /// `model` must outlive the runs.
  DecoderRuns(const Transformer& model, Index count, Index length, const Source& source);

  /// Returns the input of the first layer [T, D] for one input.
  Matrix embed(std::span<const int> ids);
  /// Applies a layer to x [T, D] in place.
  void layer(Index index, Matrix& x, AttentionObserver* observer = nullptr);
  /// Applies the layers from `first` on.
  void layers_from(Index first, Matrix& x, AttentionObserver* observer = nullptr);
  /// Returns logit(word) − logit(foil) at the last row of every input, from the last layer's output
  /// [T, D].
  std::vector<double> differences(const Matrix& x, int word, int foil);

 private:
  StackRun run(AttentionObserver* observer);
  double logit(const Matrix& hidden, Index row, int word) const;

  const ModelConfig& config_;
  const ModelParameters& parameters_;
  PackedTokens tokens_;
  std::vector<Index> positions_;
  AttentionPositionEncoding position_encoding_;
  std::vector<AttentionGroup> self_;
  std::vector<AttentionGroup> cross_;
  const Matrix& source_;
  Matrix keys_values_;  ///< of one layer
  Workspace work_;
};

}  // namespace attn
