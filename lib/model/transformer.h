// The encoder-decoder Transformer (Vaswani et al. 2017) as Marian, Pegasus and the families of
// config/family.h build it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

  /// Chooses the places of global tokens; the config's pattern has such (config/patterns/attention_pattern).
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

}  // namespace attn
