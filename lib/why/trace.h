// The values of one teacher-forced pass that the methods of this folder read.
#pragma once

#include <span>
#include <vector>

#include "model/transformer.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// An attention block of one sentence. L queries, S keys.
struct AttentionTrace {
  Matrix input;                 ///< [L, D] the residual stream before the block
  Matrix added;                 ///< [L, D] the block's output, which is added to it
  Matrix sum;                   ///< [L, D] input + added
  Matrix output;                ///< [L, D] norm(sum) in post-norm models, else sum
  std::vector<Matrix> weights;  ///< for each head [L, S]
  std::vector<Matrix> values;   ///< for each head [S, K], with the value's bias
  /// True if each head's output is the sum of its weights times these values. False if some keys
  /// are no tokens (Linformer, Pegasus-X) or have other values (LED's global tokens).
  bool values_are_of_tokens = true;
};

/// A feed-forward block of one sentence.
struct FeedForwardTrace {
  Matrix added;   ///< [L, D]
  Matrix sum;     ///< [L, D]
  Matrix output;  ///< [L, D]
};

struct LayerTrace {
  AttentionTrace self;
  AttentionTrace cross;  ///< empty in the encoder
  FeedForwardTrace feed_forward;
};

struct StackTrace {
  Matrix embedded;  ///< [L, D] the first layer's input
  std::vector<LayerTrace> layers;
  Matrix output;  ///< [L, D] after the last layer and the final norm

  /// Returns the rows after `layers` layers, before any final norm; 0 returns the embeddings.
  const Matrix& state(std::size_t after) const {
    return after == 0 ? embedded : layers[after - 1].feed_forward.output;
  }
};

/// A sentence and its translation. Row t of the decoder's matrices writes written[t].
struct Trace {
  std::vector<int> source;         ///< S ids
  std::vector<int> decoder_input;  ///< T ids: the start token and `written` without its last
  std::vector<int> written;        ///< T ids
  StackTrace encoder;
  StackTrace decoder;
};

/// Copies the values of a pass over one sentence.
class TraceRecorder : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& /*head*/) override {}
  bool reads_scores() const override { return false; }
  void output_ready(const AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  StackTrace take_encoder() { return std::move(encoder_); }
  StackTrace take_decoder() { return std::move(decoder_); }

 private:
  LayerTrace& layer(AttentionSite site, Index index);

  StackTrace encoder_;
  StackTrace decoder_;
};

/// Returns a batch of one sentence.
PackedTokens one_sentence(std::span<const int> ids);

/// Runs the model on a sentence and its translation. `decoder_input` and `written` have the same
/// length. Throws InputError for empty sentences, too many tokens, and ids outside the vocabulary.
Trace trace_translation(const Transformer& model, std::span<const int> source,
                        std::span<const int> decoder_input, std::span<const int> written);

/// Returns the bytes that a trace holds, for S source tokens and T steps; saturates at 2⁶⁴ − 1.
std::uint64_t trace_bytes(const ModelConfig& config, std::size_t source, std::size_t steps);

}  // namespace attn
