#include "serve/served_models.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"

namespace attn {
ServedModels::ServedModels(const ModelChoice& choice, NoteHandler say) : say_(std::move(say)) {
  names_ = choice.models;
  if (names_.empty()) names_.emplace_back();
  for (const std::string& directory : names_) {
    if (std::ranges::count(names_, directory) > 1) {
      refuse_field(Field{"model"}, " " + printable(directory), " is named twice");
    }
    ModelChoice own = choice;
    if (!directory.empty()) own.models = {directory};
    slots_.emplace_back(std::move(own));
  }
  names_.front() = ensure_loaded(slots_.front()).model->name;
}

ServedModels::Slot& ServedModels::ensure_loaded(Slot& slot) {
  const std::lock_guard lock(slot.loading);
  if (!slot.model) {
    slot.model = open_model(slot.choice);
    slot.queue.emplace(*slot.model->transformer);
    for (const FieldText& text : slot.model->notes) say_(text);
  }
  return slot;
}

ServedModels::Slot& ServedModels::load_for_client(std::size_t number) {
  try {
    return ensure_loaded(at(slots_, to_index(number)));
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    say_(FieldText(error.what()));
    throw SystemError("the model {} cannot be loaded; the server's own messages say why",
                      excerpt(names_[number]));
  }
}

BatchHistogram ServedModels::batch_sizes() {
  BatchHistogram all;
  for (Slot& slot : slots_) {
    const std::lock_guard lock(slot.loading);
    if (slot.queue) all += slot.queue->sizes();
  }
  return all;
}

}  // namespace attn
