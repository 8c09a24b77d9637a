// Encoder and decoder in training, between the token embeddings and the decoder's last hidden rows.
// Training puts the loss on top (training_pass.h), and explanations put the score of a word there
// and read the gradients of the embeddings.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "model/training/trainable_model.h"
#include "model/training/training_layers.h"

namespace attn {

/// Dropout of one pass.
struct StackDropout {
  bool enabled = false;    ///< uses the config's probabilities
  std::uint64_t seed = 0;  ///< of the masks
  std::uint64_t batch = 0;
};

/// A batch of sentences for both stacks.
struct StackInputs {
  const PackedTokens& source;         ///< S tokens
  const PackedTokens& decoder_input;  ///< T tokens
  /// Added to the scaled token embeddings, for inputs between those of two tokens; null: nothing.
  const Matrix* source_shift = nullptr;         ///< [S, D]
  const Matrix* decoder_input_shift = nullptr;  ///< [T, D]
  GuidedLayer* guided = nullptr;  ///< receives the loss of guided alignment in backward()
};

/// The gradients of the scaled token embeddings, which are also those of the embedding with its
/// position. Valid until the next pass.
struct EmbeddingGradient {
  ConstMatrixRef source;         ///< [S, D]
  ConstMatrixRef decoder_input;  ///< [T, D]
};

class TrainableStackEnds;

/// The trainable layers of a model and the memory for their activations, reused from batch to
/// batch.
class TrainableStacks {
 public:
  /// `model` must outlive the stacks.
  TrainableStacks(TrainableModel& model, Backend backend);
  ~TrainableStacks();
  TrainableStacks(const TrainableStacks&) = delete;
  TrainableStacks& operator=(const TrainableStacks&) = delete;

  /// Reads the weights again; call this after changing them.
  void prepare();

  /// Returns the decoder's last rows [T, D], which the output layer reads. Throws InputError if a
  /// sentence is too long or an id is outside the vocabulary. The tokens must live until after
  /// backward().
  ConstMatrixRef forward(const StackInputs& inputs, const StackDropout& dropout);

  /// Call after forward(). dhidden [T, D] is the gradient of its result, and is overwritten. Adds
  /// to the parameters' gradients, if the model has any.
  EmbeddingGradient backward(MatrixRef dhidden);

 private:
  struct Pass;

  const ModelConfig& config_;
  const ModelParameters& parameters_;
  const ModelParameters& gradient_;
  std::unique_ptr<TrainableStackEnds> encoder_ends_;
  std::unique_ptr<TrainableStackEnds> decoder_ends_;
  TrainableGlobalTokens global_tokens_;
  std::deque<TrainableEncoderLayer> encoder_;
  std::deque<TrainableDecoderLayer> decoder_;
  std::unique_ptr<Pass> pass_;  ///< what backward() needs besides the layers' own memory
  std::vector<ConstMatrixRef>
      source_inputs_;  ///< of every encoder layer, and the last one's output
  std::vector<ConstMatrixRef>
      target_inputs_;         ///< of every decoder layer, and the last one's output
  ActivationBuffer dsource_;  ///< [S, D]
  TrainingScratch scratch_;
};

}  // namespace attn
