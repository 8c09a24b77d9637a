// What the server asks of the program around it: models by name, experiments as they are typed, the
// figures of heads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "record/what_if_record.h"
#include "translate/translator.h"

namespace attn {

/// What is compared, in the words of translate's options of the same names.
struct ExperimentWords {
  std::optional<std::string> target;  ///< scored before and after instead of searching
  std::vector<std::string> without;   ///< KIND:LAYER[:HEAD] or best
  std::vector<std::string> force;     ///< KIND:LAYER:HEAD:QUERY=KEY
  std::vector<std::string> swap;      ///< OLD=NEW or POSITION=WORD
  bool changes() const { return !without.empty() || !force.empty() || !swap.empty(); }
};

/// Every call may come from several threads at once, and throws Error where it cannot be done.
class Service {
 public:
  virtual ~Service() = default;

  /// The models that one can choose; the first is the one that counts where none is named.
  virtual std::vector<std::string> model_names() const = 0;

  /// A translator of a model, which is loaded when it is first asked for. It lives no longer than
  /// the service.
  virtual std::unique_ptr<Translator> translator(std::size_t model, const DecodeOptions& given) = 0;

  /// The sentence as it is and with something changed; `after` has its changes described.
  virtual WhatIfRecord experiment(const Translator& translator, const std::string& text,
                                  const ExperimentWords& words, const RecordDetail& detail) = 0;

  /// Puts the figures of every head into a record.
  virtual void annotate(AttentionRecord& record) = 0;
};

}  // namespace attn
