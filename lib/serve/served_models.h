// The models of a server, loaded when they are first asked for.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "service/model/model_source.h"
#include "translate/translator.h"

namespace attn {

/// Every call may come from several threads at once, and throws Error where it cannot be done.
class ServedModels {
 public:
  using Say = std::function<void(const FieldText&)>;

  /// Those of `choice`, in order; none: the shipped one. The first is loaded. `say` hears what
  /// there is to note of each. UsageError where one is named twice.
  ServedModels(const ModelChoice& choice, Say say);

  /// The models that one can choose; the first is the one that counts where none is named.
  const std::vector<std::string>& names() const { return names_; }

  /// A translator of a model, which is loaded when it is first asked for. It lives no longer than
  /// this.
  std::unique_ptr<Translator> translator(std::size_t model, const DecodeOptions& given);
  /// Those that a model has tokens for.
  const Languages& languages(std::size_t model);

 private:
  struct Place {
    explicit Place(ModelChoice wanted) : choice(std::move(wanted)) {}

    ModelChoice choice;
    std::mutex loading;  ///< one's loading holds up nobody who asks for another
    std::optional<ReadyModel> model;
  };
  const ReadyModel& loaded(Place& place);

  Say say_;
  std::deque<Place> places_;  ///< which does not move them
  std::vector<std::string> names_;
};

}  // namespace attn
