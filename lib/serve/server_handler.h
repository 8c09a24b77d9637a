// What the server answers besides what is asked about a sentence: translations, its page.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "base/json.h"
#include "service/api/api_handler.h"
#include "service/api/api_request.h"
#include "text/languages.h"
#include "translate/line_parts.h"
#include "translate/search/search_queue.h"

namespace attn {

class ServerHandler : public ApiHandler {
 public:
  using ApiHandler::ApiHandler;

  /// All of these throw Error where the question cannot be answered, and SearchStopped soon after
  /// `stop` is set.

  /// {"translations": [{"text": "…", "score": -0.4}, …]}, best first, and "notes" where there is
  /// something to say of the sentence. Of a list of texts, a list of such objects.
  std::string translate(const ApiRequest& request, const std::atomic<bool>& stop,
                        Timings& timings) const;

  /// As LibreTranslate answers: {"translatedText": "…"}, with "alternatives" where they were asked
  /// for; lists of them for a list.
  std::string libretranslate(const ApiRequest& request, const std::atomic<bool>& stop,
                             Timings& timings) const;

  /// The languages of the models, as LibreTranslate lists them.
  std::string languages() const;

  /// The live page; `version` is the program's.
  std::string live_page(const std::string& version) const;

 private:
  /// A text with what was found for it, and what there is to say.
  struct Translated {
    std::vector<LineTranslation> found;
    std::vector<std::string> notes;
  };
  std::vector<Translated> translate_all(const Translator& translator,
                                        const std::vector<std::string>& texts,
                                        Timings& timings) const;
};

// Which languages the served models are for, as far as their names say: what clients of
// LibreTranslate ask for.

/// Those at the end of a model's name: "data/models/en-de", "opus-mt-en-de"; or nothing.
std::optional<LanguagePair> languages_in_name(std::string_view model_name);

/// The first model for the pair, or else the first whose name says no languages; a source "auto"
/// is any. InputError naming the pairs that are served where there is neither.
std::size_t find_model_for(const std::vector<std::string>& names, const LanguagePair& wanted);

/// [{"code": "en", "name": "English", "targets": ["de"]}, …]: every language of a pair, sources
/// first; then those that the first model has tokens for, where its name says none.
Json languages_json(const std::vector<std::string>& names, const Languages& of_first);

// The models of a server, loaded when they are first asked for.

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
