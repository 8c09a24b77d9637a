#include "serve/served_models.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "service/search_settings.h"

namespace attn {
namespace {

void check_n_best(const DecodeOptions& given, int beams) {
  const int wanted = given.num_return_sequences.value_or(1);
  if (wanted <= beams) return;
  throw UsageError("n_best {} is more than the {} beam{} of the search; ask for more beams", wanted,
                   beams, beams == 1 ? "" : "s");
}

}  // namespace

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
  names_.front() = loaded(places_.front()).name;
}

const ReadyModel& ServedModels::loaded(Place& place) {
  const std::lock_guard lock(place.loading);
  if (!place.model) {
    place.model = load_or_make(place.choice);
    for (const FieldText& text : place.model->notes) say_(text);
  }
  return *place.model;
}

const Languages& ServedModels::languages(std::size_t model) {
  return loaded(at(places_, to_index(model))).tokenizer->languages();
}

std::unique_ptr<Translator> ServedModels::translator(std::size_t model,
                                                     const DecodeOptions& given) {
  const ReadyModel& ready = loaded(at(places_, to_index(model)));
  const int beams = merge(given, ready.decode).num_beams.value_or(1);
  if (!given.do_sample.value_or(false)) check_n_best(given, beams);
  // A model may give several by itself; a page of few beams must not ask it for more than those.
  DecodeOptions wanted = given;
  if (!wanted.num_return_sequences) {
    wanted.num_return_sequences = std::min(beams, ready.decode.num_return_sequences.value_or(1));
  }
  return make_translator(ready, wanted);
}

}  // namespace attn
