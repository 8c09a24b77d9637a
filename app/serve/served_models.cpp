#include "served_models.h"

#include <algorithm>

#include "analysis/annotate.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/search_options.h"
#include "terminal/console.h"
#include "what_if.h"

namespace attn {
namespace {

/// The web's words for what translate's options are called on the command line.
template <typename Action>
auto without_dashes(Action&& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    std::string text = error.what();
    if (text.starts_with("--")) text.erase(0, 2);
    for (const char* option : {"--without", "--force", "--swap"}) {
      const std::size_t place = text.find(option);
      if (place != std::string::npos) text.erase(place, 2);
    }
    throw UsageError("{}", text);
  }
}

void check_n_best(const DecodeOptions& given, const DecodeOptions& model) {
  const int beams = merge(given, model).num_beams.value_or(1);
  const int wanted = given.num_return_sequences.value_or(1);
  if (wanted <= beams) return;
  throw UsageError("n_best {} is more than the {} beam{} of the search; ask for more beams", wanted,
                   beams, beams == 1 ? "" : "s");
}

}  // namespace

ServedModels::ServedModels(const ModelOptions& options) {
  std::vector<std::string> directories = options.more_models;
  directories.insert(directories.begin(), options.model);
  for (const std::string& directory : directories) {
    const auto named = [&](const Place& place) { return place.options.model == directory; };
    if (std::any_of(places_.begin(), places_.end(), named)) {
      throw UsageError("--model {} is named twice", printable(directory));
    }
    ModelOptions own = options;
    own.model = directory;
    own.more_models.clear();
    places_.emplace_back(std::move(own));
  }
  names_ = directories;
  names_.front() = loaded(places_.front()).name;
}

const ReadyModel& ServedModels::loaded(Place& place) {
  const std::lock_guard lock(place.loading);
  if (!place.model) {
    place.model = load_or_make(place.options);
    for (const std::string& text : place.model->notes) note(printable(text));
  }
  return *place.model;
}

std::unique_ptr<Translator> ServedModels::translator(std::size_t model,
                                                     const DecodeOptions& given) {
  const ReadyModel& ready = loaded(at(places_, to_index(model)));
  check_n_best(given, ready.decode);
  // A model may give several by itself; a page of few beams must not ask it for more than those.
  DecodeOptions wanted = given;
  if (!wanted.num_return_sequences) {
    const int beams = merge(given, ready.decode).num_beams.value_or(1);
    wanted.num_return_sequences = std::min(beams, ready.decode.num_return_sequences.value_or(1));
  }
  return without_dashes([&] { return make_translator(ready, wanted); });
}

WhatIfRecord ServedModels::experiment(const Translator& translator, const std::string& text,
                                      const ExperimentWords& words, const RecordDetail& detail) {
  return without_dashes([&] {
    WhatIfOptions options;
    options.without = words.without;
    options.force = words.force;
    options.swap = words.swap;
    Changes changes = options.changes(translator.summary());
    ExperimentSentences sentences;
    sentences.target = words.target;
    const std::string clean = clean_text(text).text;
    sentences.before = translator.prepare(clean);
    sentences.after =
        words.swap.empty() ? sentences.before : translator.prepare(options.swapped(clean));
    return run_experiment(translator, options, sentences, detail, changes);
  });
}

void ServedModels::annotate(AttentionRecord& record) {
  attn::annotate(record, {true, AlignmentOptions{}});
}

}  // namespace attn
