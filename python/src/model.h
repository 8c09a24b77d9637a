// A loaded model: the core of attn_demo.Model.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "record.h"
#include "service/model/open_model.h"
#include "translate/line_parts.h"
#include "translate/search/search_queue.h"
#include "why.h"

namespace attn {

/// Read-only after loading: any number of threads may call it.
class Model {
 public:
  explicit Model(const pybind11::dict& options);

  /// Returns the translations of each line, best first, and the notes. `observers` are functions;
  /// each sees the changes of those before it.
  using Translations = std::vector<std::vector<LineTranslation>>;
  std::pair<Translations, std::vector<std::string>> translate(
      const std::vector<std::string>& lines, const pybind11::dict& options,
      const pybind11::list& observers) const;

  /// Returns the record of a sentence or, for an experiment, those before and after.
  std::pair<std::vector<SharedRecord>, std::vector<std::string>> attend(
      const std::string& sentence, const pybind11::dict& options,
      const pybind11::list& observers) const;

  /// Explains the words of a sentence's translation.
  std::pair<SharedWhy, std::vector<std::string>> why(const std::string& sentence,
                                                     const pybind11::dict& options) const;

  const ReadyModel& mapped() const { return models_.mapped(); }
  std::vector<std::string> names() const { return models_.names(); }
  std::vector<std::string> notes() const;

 private:
  ReadyEnsemble models_;
  /// Lets searches of several Python threads share steps.
  std::unique_ptr<SearchQueue> queue_;
  std::unique_ptr<KeptGradients> gradients_ = std::make_unique<KeptGradients>();
};

void bind_models(pybind11::module_& module);

}  // namespace attn
