// Several models that choose each token together.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "text/tokenizer.h"

namespace attn {

/// Models with the same vocabulary; their shapes may differ. A single model is an ensemble, too.
/// Each token is chosen by the mean of the models' log-probabilities (the geometric mean of their
/// probabilities, not renormalized), each processed as for that model alone: mean_m log
/// p_m(token).
class Ensemble {
 public:
  /// Uses one model, which must outlive the ensemble.
  Ensemble(const Transformer& model) : models_{&model} {}  // NOLINT(google-explicit-constructor)

  /// Uses one or more models, which must outlive the ensemble. Throws InputError naming two models
  /// whose vocabulary sizes or special ids differ.
  explicit Ensemble(std::vector<const Transformer*> models);

  const std::vector<const Transformer*>& models() const { return models_; }

  /// Returns the first model's config; the vocabularies and special ids are the same in all.
  const ModelConfig& config() const { return models_.front()->config(); }

  /// Returns the smallest number of positions of any model.
  Index max_positions() const;
  Index max_decoder_positions() const;

  /// Returns the models' names, for messages.
  std::string name() const;

 private:
  std::vector<const Transformer*> models_;
};

/// Throws InputError that names both models and the first token in which their vocabularies
/// differ.
void require_same_vocabulary(const Tokenizer& first, const std::string& first_name,
                             const Tokenizer& other, const std::string& other_name);

}  // namespace attn
