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

/// What the encoder made of a batch: one row a source token.
struct EncodedSource {
  Matrix rows;      ///< [T, D]
  Offsets offsets;  ///< B + 1
  std::vector<std::uint8_t> key_padding_mask;
};

/// A model: config, parameters, and the products prepared from them. Movable, read-only in use:
/// any number of decoders may run on one.
class Transformer {
 public:
  /// The memory behind the parameters: a mapped file, allocations, or both.
  using Storage = std::vector<std::shared_ptr<const void>>;

  /// `parameters` point into `storage`; the config is valid. `when_packed` hears of every weight.
  Transformer(ModelConfig config, ModelParameters parameters, Storage storage, Backend backend,
              const PackedCallback& when_packed = {});

  /// What messages call it: its directory, for one.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  const ModelConfig& config() const { return config_; }

  /// Chooses the places of global tokens; the config's pattern has such
  /// (config/patterns/attention_pattern).
  void set_global_positions(std::vector<Index> positions) {
    config_.encoder_attention.globals = std::move(positions);
  }

  const ModelParameters& parameters() const { return parameters_; }

  /// Runs the encoder over all sentences. Every sentence has 1 to max_positions tokens of the
  /// source vocabulary (InputError).
  EncodedSource encode(const PackedTokens& source, AttentionObserver* observer = nullptr) const;

  /// Runs the decoder over whole target prefixes at once, under the causal mask (teacher forcing).
  /// Row t is what the step after decoder_input token t predicts. Returns hidden rows [T, D].
  Matrix decode(const PackedTokens& decoder_input, const EncodedSource& source,
                AttentionObserver* observer = nullptr) const;

  /// hidden [T, D] → logits [T, V].
  void logits(const ConstMatrixRef& hidden, MatrixRef out) const;

 private:
  EncodedSource encode_with_global_tokens(const PackedTokens& source,
                                          AttentionObserver* observer) const;

  std::string name_ = "the model";
  ModelConfig config_;
  ModelParameters parameters_;
  Storage storage_;
  PackedLinear output_product_;
};

// What a model takes of the memory.

/// Bytes of the products' weights as they are prepared: four a number, two with Backend::bfloat16
/// (where the CPU multiplies it), one with Backend::int8.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t prepared_bytes(const ModelConfig& config, Backend backend);

/// Bytes that a model takes in memory while it runs: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config, Backend backend);

// What the weights are before training.

/// A model with weights made from the seed (see random.h): projections uniform within
/// √(6 / (in + out)) (Glorot and Bengio 2010), embeddings with variance 1/D and the pad row zero,
/// biases 0, norms 1 and 0, final_logits_bias 0 and −1e4 for pad. MemoryError where it would not
/// fit.
Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend);

/// Fills one parameter of a model that will be trained: as random_model() does, number i from the
/// seed, the parameter's name and i alone. But query, key and value count as the one matrix [D, 3D]
/// that they are, as in PyTorch's MultiheadAttention: their bound is √(6 / 4D), not √(6 / 2D).
/// Scores begin half as large, and a post-norm model finds its alignments sooner.
void initialise_for_training(const ParameterInfo& info, const Parameter& parameter,
                             const ModelConfig& config, std::uint64_t seed);

}  // namespace attn
