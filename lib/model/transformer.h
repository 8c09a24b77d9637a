// The encoder-decoder Transformer (Vaswani et al. 2017) as Marian, Pegasus and the families of
// config/family.h build it: whole sentences through its layers, random weights, and the memory that
// a model needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/matmul.h"
#include "config/model_config.h"
#include "model/packed_tokens.h"
#include "model/parameters.h"

namespace attn {

/// The encoder's output for a batch: one row per source token.
struct EncodedSource {
  Matrix rows;      ///< [T, D]
  Offsets offsets;  ///< B + 1
  std::vector<std::uint8_t> key_padding_mask;
};

/// A model: its config, its parameters, and the matmul weights prepared from them. Movable and
/// read-only in use: any number of decoders may share one.
class Transformer {
 public:
  /// The memory behind the parameters: mapped files, allocations, or both.
  using Storage = std::vector<std::shared_ptr<const void>>;

  /// `parameters` point into `storage`; the config must be valid. `when_packed` is called for every
  /// weight after it has been packed.
  Transformer(ModelConfig config, ModelParameters parameters, Storage storage, Backend backend,
              const PackedCallback& when_packed = {});

  /// Returns the name for messages, such as the model's directory.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  const ModelConfig& config() const { return config_; }

  /// Returns what computes the model's matrix products.
  Backend backend() const { return backend_; }

  /// Chooses the positions of global tokens; the config's pattern must have them
  /// (config/patterns/attention_pattern).
  void set_global_positions(std::vector<Index> positions) {
    config_.encoder_attention.globals = std::move(positions);
  }

  const ModelParameters& parameters() const { return parameters_; }

  /// Runs the encoder over all sentences. Throws InputError unless every sentence has 1 to
  /// max_positions tokens of the source vocabulary.
  EncodedSource encode(const PackedTokens& source, AttentionObserver* observer = nullptr) const;

  /// Runs the decoder over whole target prefixes at once, under the causal mask (teacher forcing).
  /// Row t predicts the token after decoder_input token t. Returns hidden rows [T, D].
  Matrix decode(const PackedTokens& decoder_input, const EncodedSource& source,
                AttentionObserver* observer = nullptr) const;

  /// Computes logits [T, V] from hidden [T, D].
  void logits(const ConstMatrixRef& hidden, MatrixRef out) const;

 private:
  EncodedSource encode_with_global_tokens(const PackedTokens& source,
                                          AttentionObserver* observer) const;

  std::string name_ = "the model";
  ModelConfig config_;
  ModelParameters parameters_;
  Storage storage_;
  Backend backend_;
  PackedLinear output_product_;
};

// Memory use of a model.

/// Returns the bytes of prepared matmul weights: four per number, two with Backend::bfloat16 (if
/// the CPU supports it), one with Backend::int8. Saturates at 2⁶⁴ − 1.
std::uint64_t prepared_bytes(const ModelConfig& config, Backend backend);

/// Returns the bytes that a model needs at run time: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config, Backend backend);

// Initial weights.

/// Returns a model with weights made from the seed (see random.h): projections uniform within √(6 /
/// (in + out)) (Glorot and Bengio 2010), embeddings with variance 1/D and a zero pad row, biases 0,
/// norms 1 and 0, final_logits_bias 0 and −1e4 for pad. Throws MemoryError if it would not fit.
Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend);

/// Initializes one parameter for training. Works as in random_model(): number i depends only on the
/// seed, the parameter's name and i. The difference is that query, key and value count as the one
/// matrix [D, 3D] that they form, as in PyTorch's MultiheadAttention: their bound is √(6 / 4D), not
/// √(6 / 2D). Initial scores are half as large, and a post-norm model learns its alignments sooner.
void initialise_for_training(const ParameterInfo& info, const Parameter& parameter,
                             const ModelConfig& config, std::uint64_t seed);

}  // namespace attn
