#include "serve/server_handler.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/scoped_timer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "serve/model_languages.h"
#include "service/api/response_limits.h"
#include "service/translate_lines.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

std::vector<std::string> texts_of(const ApiRequest& request) {
  return request.texts.value_or(std::vector<std::string>{request.text});
}

}  // namespace

std::vector<ServerHandler::Translated> ServerHandler::translate_all(const Translator& translator,
                                                        const std::vector<std::string>& texts,
                                                        Timings& timings) const {
  std::vector<Translated> all;
  std::optional<ScopedTimer> timed(std::in_place, &timings, &Timings::segmentation);
  const auto told = [&](const PreparedLine& line) {
    all.emplace_back();
    for (const PreparedSentence& part : line.parts) {
      check_search_size(translator, part);
      add_notes(all.back().notes, part, translator);
    }
    if (line.parts.size() > 1) all.back().notes.emplace_back("translated sentence by sentence");
    if (all.size() == texts.size()) timed.reset();
  };
  // All of them wait at once; how many are searched at a time is the queue's business.
  const LineSettings settings{.batch = std::numeric_limits<std::size_t>::max()};
  auto found = translate_lines(translator, texts, settings, {told});
  for (std::size_t i = 0; i < all.size(); ++i) all[i].found = std::move(found[i]);
  return all;
}

std::string ServerHandler::translate(const ApiRequest& request, const std::atomic<bool>& stop,
                               Timings& timings) const {
  const std::unique_ptr<Translator> translator = translator_of(request, stop, timings);
  const std::vector<Translated> all = translate_all(*translator, texts_of(request), timings);
  return json_line([&](JsonWriter& json) {
    const auto one = [&](const Translated& text) {
      json.object([&] {
        json.key("translations");
        json.array(text.found, [&](const LineTranslation& translation) {
          json.object([&] {
            json.member("text", translation.text);
            json.member("score", translation.score);
          });
        });
        if (!text.notes.empty()) json.member("notes", text.notes);
      });
    };
    if (request.texts) {
      json.array(all, one);
    } else {
      one(all.front());
    }
  });
}

std::string ServerHandler::libretranslate(const ApiRequest& asked, const std::atomic<bool>& stop,
                           Timings& timings) const {
  ApiRequest request = asked;
  const std::size_t model = find_model_for(models().names(), *request.languages);
  request.model = models().names()[model];
  const Languages& known = models().model(model).tokenizer->languages();
  if (!known.tokens.empty()) {
    const std::string& source = request.languages->source;
    const bool told = known.target_language_method != TargetLanguageMethod::source_language_tag && source != "auto";
    request.search.source_lang = told ? source : "";
    request.search.target_lang = request.languages->target;
  }
  const std::unique_ptr<Translator> translator = translator_of(request, stop, timings);
  const std::vector<std::string> texts = texts_of(request);
  Json best = Json::array(), others = Json::array();
  for (const Translated& text : translate_all(*translator, texts, timings)) {
    best.push_back(text.found.front().text);
    others.push_back(Json::array());
    for (std::size_t i = 1; i < text.found.size(); ++i) {
      others.back().push_back(text.found[i].text);
    }
  }
  Json answer = Json::object();
  answer["translatedText"] = request.texts ? best : best.front();
  if (request.search.n_best) {
    answer["alternatives"] = request.texts ? others : others.front();
  }
  return answer.dump() + "\n";
}

std::string ServerHandler::languages() const {
  return languages_json(models().names(), models().model(0).tokenizer->languages()).dump() + "\n";
}

std::string ServerHandler::live_page(const std::string& version) const {
  const std::vector<std::string> records = first_records();
  const std::string live = live_settings(version);
  return page_html({.records = records, .live = live});
}

}  // namespace attn
