// What the server answers to a question: translations, attention records, data for its page.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "serve/question.h"
#include "serve/served_models.h"
#include "translate/line_parts.h"

namespace attn {

/// How long the parts of an answer took, in milliseconds.
struct Timings {
  double segmentation = 0;
  ModelTimes model;
  double record = 0;  ///< figures of heads, JSON, packed maps
};

class Answers {
 public:
  /// `models` outlives it.
  explicit Answers(ServedModels& models) : models_(models) {}

  /// All of these throw Error where the question cannot be answered, and SearchStopped soon after
  /// `stop` is set.

  /// {"translations": [{"text": "…", "score": -0.4}, …]}, best first, and "notes" where there is
  /// something to say of the sentence. Of a list of texts, a list of such objects.
  std::string translate(const Question& question, const std::atomic<bool>& stop,
                        Timings& timings) const;

  /// As LibreTranslate answers: {"translatedText": "…"}, with "alternatives" where they were asked
  /// for; lists of them for a list.
  std::string libre(const Question& question, const std::atomic<bool>& stop,
                    Timings& timings) const;

  /// The languages of the models, as LibreTranslate lists them.
  std::string languages() const;

  /// The attention record, or the experiment's (docs/json.md).
  std::string attend(const Question& question, const std::atomic<bool>& stop,
                     Timings& timings) const;

  /// The records as the page reads them (view/page/page_html.h).
  std::string page(const Question& question, const std::atomic<bool>& stop, Timings& timings) const;

  /// The page that works without a server, with the same records.
  std::string file(const Question& question, const std::atomic<bool>& stop, Timings& timings) const;

  /// The live page, which begins with `question`; `version` is the program's.
  std::string live_page(const Question& question, const std::string& version) const;

 private:
  struct PageRecords {
    std::vector<std::string> records;
    std::vector<std::string> notes;
  };
  /// A text with what was found for it, and what there is to say.
  struct Translated {
    std::vector<LineTranslation> found;
    std::vector<std::string> notes;
  };
  std::vector<Translated> translate_all(const Translator& translator,
                                        const std::vector<std::string>& texts,
                                        Timings& timings) const;
  std::unique_ptr<Translator> translator_of(const Question& question, const std::atomic<bool>& stop,
                                            Timings& timings) const;
  PageRecords page_records(const Question& question, const std::atomic<bool>& stop,
                           Timings& timings) const;

  ServedModels& models_;
};

}  // namespace attn
