// The models of a server, loaded when they are first asked for.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/at.h"
#include "service/api/asked_models.h"
#include "translate/search/search_queue.h"

namespace attn {

/// Every call may come from several threads at once, and throws Error where it cannot be done.
class ServedModels : public ModelProvider {
 public:
  using NoteHandler = std::function<void(const FieldText&)>;

  /// Those of `choice`, in order; none: the shipped one. The first is loaded. `say` hears what
  /// there is to note of each. UsageError where one is named twice.
  ServedModels(const ModelChoice& choice, NoteHandler say);

  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t number) override { return *load_for_client(number).model; }
  SearchQueue* queue(std::size_t number) override { return &*load_for_client(number).queue; }
  /// Of the steps of all models.
  BatchHistogram batch_sizes();

 private:
  struct Slot {
    explicit Slot(ModelChoice wanted) : choice(std::move(wanted)) {}

    ModelChoice choice;
    std::mutex loading;  ///< one's loading holds up nobody who asks for another
    std::optional<ReadyModel> model;
    std::optional<SearchQueue> queue;  ///< there as soon as the model is
  };
  Slot& ensure_loaded(Slot& slot);
  /// For whoever asks from outside, whom the server's paths are no business of: SystemError that
  /// says nothing of them, and `say` hears what it was.
  Slot& load_for_client(std::size_t number);

  NoteHandler say_;
  std::deque<Slot> slots_;  ///< which does not move them
  std::vector<std::string> names_;
};

}  // namespace attn
