// The models that questions are about, whoever keeps them: a server, or a page that translates
// alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "service/api/api_request.h"
#include "service/model/open_model.h"
#include "translate/line_parts.h"

namespace attn {

class SearchQueue;

class ModelProvider {
 public:
  virtual ~ModelProvider() = default;

  /// The models that one can choose; the first is the one that counts where none is named.
  virtual const std::vector<std::string>& names() const = 0;

  /// A model, which may be loaded only now. It stays as long as this.
  virtual const ReadyModel& model(std::size_t number) = 0;

  /// In which its searches share steps; null: each has its own.
  virtual SearchQueue* queue(std::size_t /*number*/) { return nullptr; }
};

// What is answered to a question about a sentence: its attention record, and data for the live
// page.

/// How long the parts of an answer took, in milliseconds.
struct Timings {
  double segmentation = 0;
  TranslationTimings model;
  double record = 0;  ///< figures of heads, JSON, packed maps
};

/// Adds what is to be said of a sentence, and of how it is translated.
void add_notes(std::vector<std::string>& notes, const PreparedSentence& sentence,
               const Translator& translator);

class ApiHandler {
 public:
  /// `models` outlives it.
  explicit ApiHandler(ModelProvider& models) : models_(models) {}

  /// All of these throw Error where the question cannot be answered, and SearchStopped soon after
  /// `stop` is set.

  /// The attention record, or the experiment's (docs/json.md).
  std::string attend(const ApiRequest& request, const std::atomic<bool>& stop,
                     Timings& timings) const;

  /// The records as the page reads them (view/page/page_html.h), of one part where translations cut
  /// the text: Question::part, or the one of its caret.
  std::string page(const ApiRequest& request, const std::atomic<bool>& stop,
                   Timings& timings) const;

  /// The page that works without a server: of the part that is asked for, or of all of them.
  std::string file(const ApiRequest& request, const std::atomic<bool>& stop,
                   Timings& timings) const;

  /// What the live page says of itself, as JSON: models, beams, limits, what the first model lets
  /// one choose.
  std::string live_settings(const std::string& version) const;

  /// The records of the live page as it begins.
  std::vector<std::string> first_records() const;

 protected:
  std::unique_ptr<Translator> translator_of(const ApiRequest& request,
                                            const std::atomic<bool>& stop, Timings& timings) const;
  ModelProvider& models() const { return models_; }

 private:
  std::size_t model_index(const ApiRequest& request) const;
  const ReadyModel& model_of(const ApiRequest& request) const {
    return models_.model(model_index(request));
  }

  struct PreparedRequest;  // a question with its translator and its text
  struct PageRecords;      // packed, with what is to be said of them
  PreparedRequest prepare_request(const ApiRequest& request, Splitting splitting,
                                  const std::atomic<bool>& stop, Timings& timings) const;

  ModelProvider& models_;
};

}  // namespace attn
