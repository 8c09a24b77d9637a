// What the server answers besides what is asked about a sentence: translations, its page.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "service/api/sentence_answers.h"
#include "translate/line_parts.h"

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

}  // namespace attn
