// The models of attn-demo serve, loaded when they are first asked for.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model_source.h"
#include "serve/service.h"

namespace attn {

class ServedModels : public Service {
 public:
  /// Those of --model, in order; none: the shipped one. The first is loaded. UsageError where one
  /// is named twice.
  explicit ServedModels(const ModelOptions& options);

  std::vector<std::string> model_names() const override { return names_; }
  std::unique_ptr<Translator> translator(std::size_t model, const DecodeOptions& given) override;
  WhatIfRecord experiment(const Translator& translator, const std::string& text,
                          const ExperimentWords& words, const RecordDetail& detail) override;
  void annotate(AttentionRecord& record) override;

 private:
  struct Place {
    explicit Place(ModelOptions wanted) : options(std::move(wanted)) {}

    ModelOptions options;
    std::mutex loading;  ///< one's loading holds up nobody who asks for another
    std::optional<ReadyModel> model;
  };
  static const ReadyModel& loaded(Place& place);

  std::deque<Place> places_;  ///< which does not move them
  std::vector<std::string> names_;
};

}  // namespace attn
