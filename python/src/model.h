// A loaded model: what attn_demo.Model stands on.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "record.h"
#include "service/model/open_model.h"
#include "translate/line_parts.h"
#include "translate/search/search_queue.h"

namespace attn {

/// Read-only once it is loaded: any number of threads may call it.
class Model {
 public:
  explicit Model(const pybind11::dict& options);

  /// The translations of each line, best first, and what there is to note. `observers` are
  /// functions; each sees what those before it left.
  using Translations = std::vector<std::vector<LineTranslation>>;
  std::pair<Translations, std::vector<std::string>> translate(
      const std::vector<std::string>& lines, const pybind11::dict& options,
      const pybind11::list& observers) const;

  /// The record of a sentence; of an experiment those before and after.
  std::pair<std::vector<SharedRecord>, std::vector<std::string>> attend(
      const std::string& sentence, const pybind11::dict& options,
      const pybind11::list& observers) const;

  const ReadyModel& mapped() const { return models_.mapped(); }
  std::vector<std::string> names() const { return models_.names(); }
  std::vector<std::string> notes() const;

 private:
  ReadyEnsemble models_;
  /// What several threads of Python search for shares steps.
  std::unique_ptr<SearchQueue> queue_;
};

void bind_models(pybind11::module_& module);

}  // namespace attn
