// Answers API requests about a sentence: attention records, and data for the live page.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "service/api/api_request.h"
#include "service/model/open_model.h"
#include "translate/line_parts.h"

namespace attn {

/// The models that requests may use: those of a server, or that of a page that translates on its
/// own.
class ModelProvider {
 public:
  virtual ~ModelProvider() = default;

  /// The names of the models; the first is the default.
  virtual const std::vector<std::string>& names() const = 0;

  /// Returns a model, which may be loaded only now. It lives as long as the provider.
  virtual const ReadyModel& model(std::size_t number) = 0;

  /// Runs a model's searches together with those of other requests; null: each request searches on
  /// its own.
  virtual Searcher* searcher(std::size_t /*number*/) { return nullptr; }
};

/// Time in milliseconds that the parts of an answer took.
struct Timings {
  double segmentation = 0;
  TranslationTimings model;
  double record = 0;  ///< head metrics, JSON, packed maps
};

/// Adds notes about a sentence and about how it is translated.
void add_notes(std::vector<std::string>& notes, const PreparedSentence& sentence,
               const Translator& translator, const TranslationSettings& settings);

class ApiHandler {
 public:
  /// `models` must outlive the handler.
  explicit ApiHandler(ModelProvider& models) : models_(models) {}

  /// All of these throw Error if the request cannot be answered, and SearchStopped soon after
  /// `stop` is set.

  /// Returns the attention record, or that of the experiment (docs/json.md).
  std::string attend(const ApiRequest& request, const std::atomic<bool>& stop,
                     Timings& timings) const;

  /// Returns why each word of the translation was written: format attn-demo.why (docs/json.md), or
  /// the receipts summed by words if ApiRequest::summed is set.
  std::string why(const ApiRequest& request, const std::atomic<bool>& stop, Timings& timings) const;

  /// Returns the records as the page reads them (view/page/page_html.h). If translations split the
  /// text, they are those of one part: ApiRequest::part, or the part with the caret.
  std::string page(const ApiRequest& request, const std::atomic<bool>& stop,
                   Timings& timings) const;

  /// Returns a page that works without a server, with the requested part of the text or with all
  /// parts.
  std::string file(const ApiRequest& request, const std::atomic<bool>& stop,
                   Timings& timings) const;

  /// Returns the live page's description of itself as JSON: models, beams, limits, and the choices
  /// that the first model offers.
  std::string live_settings(const std::string& version) const;

  /// Returns the records that the live page starts with.
  std::vector<std::string> first_records() const;

 protected:
  /// Returns the model that the request names. Throws InputError if there is none.
  const ReadyModel& model_of(const ApiRequest& request) const {
    return models_.model(model_index(request));
  }
  TranslationSettings settings_of(const ApiRequest& request, const std::atomic<bool>& stop,
                                  Timings& timings) const;
  ModelProvider& models() const { return models_; }

 private:
  std::size_t model_index(const ApiRequest& request) const;

  struct PreparedRequest;  // a request with its model, settings and text
  struct PageRecords;      // packed, with notes about them
  PreparedRequest prepare_request(const ApiRequest& request, Splitting splitting,
                                  const std::atomic<bool>& stop, Timings& timings) const;

  ModelProvider& models_;
};

}  // namespace attn
