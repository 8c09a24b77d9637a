// Answers that are not about one explained sentence: translations, languages and the live page.
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
#include "service/model/languages.h"
#include "text/languages.h"
#include "translate/line_parts.h"
#include "translate/search/search_queue.h"

namespace attn {

class ServerHandler : public ApiHandler {
 public:
  using ApiHandler::ApiHandler;

  /// All of these throw Error if the request cannot be answered, and SearchStopped soon after
  /// `stop` is set.

  /// Returns {"translations": [{"text": "…", "score": -0.4}, …]}, best first, with "notes" if there
  /// are remarks on the sentence. For a list of texts, returns a list of such objects.
  std::string translate(const ApiRequest& request, const std::atomic<bool>& stop,
                        Timings& timings) const;

  /// Answers like LibreTranslate: {"translatedText": "…"}, with "alternatives" on request; both are
  /// lists for a list of texts. For the source "auto", "detectedLanguage" is added.
  std::string libretranslate(const ApiRequest& request, const std::atomic<bool>& stop,
                             Timings& timings) const;

  /// Returns [{"confidence": 83, "language": "en"}, …], most likely first, of the languages in
  /// languages(). Throws InputError if there are none.
  std::string detect(const ApiRequest& request, const std::atomic<bool>& stop,
                     Timings& timings) const;

  /// Returns the models' languages in LibreTranslate's format.
  std::string languages() const;

  /// Returns the live page; `version` is the program's.
  std::string live_page(const std::string& version) const;

 private:
  /// A text with its translations and notes.
  struct Translated {
    std::vector<LineTranslation> found;
    std::vector<std::string> notes;
  };
  /// Returns the codes of languages().
  std::vector<std::string> language_codes() const;
  /// Translates the texts of a request.
  std::vector<Translated> translate_all(const ApiRequest& request, const std::atomic<bool>& stop,
                                        Timings& timings) const;
};

// The languages of the served models as far as their names tell, for LibreTranslate clients.

/// Returns the first model for the pair or, failing that, the first whose name contains no
/// languages; the source "auto" matches any, preferably `detected`. Throws InputError naming the
/// served pairs if there is neither.
std::size_t find_model_for(const std::vector<std::string>& names, const LanguagePair& wanted,
                           const std::string& detected = "");

/// Returns [{"code": "en", "name": "English", "targets": ["de"]}, …]: every language of a pair,
/// sources first, then the language tokens of the first model if its name contains no languages.
Json languages_json(const std::vector<std::string>& names, const Languages& of_first);

// The models of a server, loaded on first use.

/// Loads and holds models. All functions are thread-safe and throw Error on failure.
class ServedModels : public ModelProvider {
 public:
  using NoteHandler = std::function<void(const FieldText&)>;

  /// Serves the models of `choice`, in order; by default the shipped ones. Loads the first. `say`
  /// receives the notes about each. Throws UsageError if a model is named twice.
  ServedModels(const ModelChoice& choice, NoteHandler say);

  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t number) override { return *load_for_client(number).model; }
  Searcher* searcher(std::size_t number) override { return &*load_for_client(number).queue; }
  /// Returns the batch sizes of all models' steps.
  BatchHistogram batch_sizes();

 private:
  struct Slot {
    explicit Slot(ModelChoice wanted) : choice(std::move(wanted)) {}

    ModelChoice choice;
    std::mutex loading;  ///< per model, so that loading one does not block the others
    std::optional<ReadyModel> model;
    std::optional<SearchQueue> queue;  ///< set once the model is loaded
  };
  Slot& ensure_loaded(Slot& slot);
  /// Loads a model for a client. On failure, throws a SystemError without the server's paths, and
  /// passes the details to `say`.
  Slot& load_for_client(std::size_t number);

  NoteHandler say_;
  std::deque<Slot> slots_;  ///< a deque, because its elements never move
  std::vector<std::string> names_;
};

}  // namespace attn
