#include "serve/served_models.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"

namespace attn {
ServedModels::ServedModels(const ModelChoice& choice, Say say) : say_(std::move(say)) {
  names_ = choice.models;
  if (names_.empty()) names_.emplace_back();
  for (const std::string& directory : names_) {
    if (std::ranges::count(names_, directory) > 1) {
      refuse_field(Field{"model"}, " " + printable(directory), " is named twice");
    }
    ModelChoice own = choice;
    if (!directory.empty()) own.models = {directory};
    places_.emplace_back(std::move(own));
  }
  names_.front() = loaded(places_.front()).model->name;
}

ServedModels::Place& ServedModels::loaded(Place& place) {
  const std::lock_guard lock(place.loading);
  if (!place.model) {
    place.model = load_or_make(place.choice);
    place.queue.emplace(*place.model->transformer);
    for (const FieldText& text : place.model->notes) say_(text);
  }
  return place;
}

ServedModels::Place& ServedModels::asked(std::size_t number) {
  try {
    return loaded(at(places_, to_index(number)));
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    say_(FieldText(error.what()));
    throw SystemError("the model {} cannot be loaded; the server's own messages say why",
                      excerpt(names_[number]));
  }
}

BatchSizes ServedModels::batch_sizes() {
  BatchSizes all;
  for (Place& place : places_) {
    const std::lock_guard lock(place.loading);
    if (place.queue) all += place.queue->sizes();
  }
  return all;
}

}  // namespace attn
