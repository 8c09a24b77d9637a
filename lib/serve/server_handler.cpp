#include "serve/server_handler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/scoped_timer.h"
#include "base/strings/utf8.h"
#include "serve/language_detector.h"
#include "service/api/response_limits.h"
#include "service/measure/alignment_heads.h"
#include "service/model/languages.h"
#include "service/model/shipped.h"
#include "service/search_settings.h"
#include "service/training/untrained_model.h"
#include "service/translate_texts.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

std::vector<std::string> texts_of(const ApiRequest& request) {
  return request.texts.value_or(std::vector<std::string>{request.text});
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

/// Returns the texts after the best one, at most `most`, each once.
Json alternatives_json(const std::vector<LineTranslation>& found, std::size_t most) {
  std::vector<std::string> texts = {found.front().text};
  for (const LineTranslation& translation : found) {
    const bool is_new = std::ranges::find(texts, translation.text) == texts.end();
    if (is_new && texts.size() <= most) texts.push_back(translation.text);
  }
  return Json(std::vector<std::string>(texts.begin() + 1, texts.end()));
}

Json detected_json(const std::vector<DetectedLanguage>& detected) {
  Json all = Json::array();
  for (const auto& [code, confidence] : detected) {
    all.push_back({{"confidence", confidence}, {"language", code}});
  }
  return all;
}

}  // namespace

std::vector<ServerHandler::Translated> ServerHandler::translate_all(const ApiRequest& request,
                                                                    const std::atomic<bool>& stop,
                                                                    Timings& timings) const {
  TranslationSettings settings = settings_of(request, stop, timings);
  const Translator translator = make_translator(model_of(request));
  const std::vector<std::string> texts = texts_of(request);
  std::vector<Translated> all(texts.size());
  std::optional<ScopedTimer> timed(std::in_place, &timings, &Timings::segmentation);
  const auto told = [&](std::size_t text, const PreparedLine& line) {
    std::vector<std::string>& notes = all[text].notes;
    for (const PreparedSentence& part : line.parts) {
      check_search_size(translator, settings.decode, part);
      add_notes(notes, part, translator, settings);
    }
    if (line.parts.size() > 1) add_once(notes, "translated sentence by sentence");
    if (text + 1 == texts.size()) timed.reset();
  };
  settings.term_note = [&](const std::string& sentence, const std::string& note) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::string>& notes = all[i].notes;
      const bool holds = all.size() == 1 || texts[i].find(sentence) != std::string::npos;
      if (holds && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  };
  // Submits all lines at once; the queue limits how many are searched at a time.
  const LineSettings at_once{.batch = std::numeric_limits<std::size_t>::max()};
  const TextSettings options{.lines = at_once, .html = request.html};
  auto found = translate_texts(translator, settings, texts, options, {told});
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].found = std::move(found[i].translations);
    const std::string note = markup_note(found[i].markup);
    if (!note.empty()) all[i].notes.push_back(note);
  }
  return all;
}

std::string ServerHandler::translate(const ApiRequest& request, const std::atomic<bool>& stop,
                                     Timings& timings) const {
  const std::vector<Translated> all = translate_all(request, stop, timings);
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
  const std::vector<std::string> codes = language_codes();
  const bool detects = request.languages->source == "auto" && !codes.empty();
  std::vector<DetectedLanguage> detected;
  for (const std::string& text : detects ? texts_of(request) : std::vector<std::string>{}) {
    detected.push_back(detect_language(text, codes).front());
  }
  const bool sure = detects && detected.front().confidence > 0;
  const std::size_t model =
      find_model_for(models().names(), *request.languages, sure ? detected.front().code : "");
  request.model = models().names()[model];
  const Languages& known = models().model(model).tokenizer->languages();
  if (!known.tokens.empty()) {
    const std::string& source = request.languages->source;
    const bool told = known.target_language_method != TargetLanguageMethod::source_language_tag &&
                      source != "auto";
    request.search.source_lang = told ? source : "";
    request.search.target_lang = request.languages->target;
  }
  Json best = Json::array(), others = Json::array();
  for (const Translated& text : translate_all(request, stop, timings)) {
    best.push_back(text.found.front().text);
    others.push_back(alternatives_json(text.found, to_size(request.alternatives)));
  }
  Json answer = Json::object();
  answer["translatedText"] = request.texts ? best : best.front();
  if (request.alternatives != 0) {
    answer["alternatives"] = request.texts ? others : others.front();
  }
  if (detects) {
    const Json languages = detected_json(detected);
    answer["detectedLanguage"] = request.texts ? languages : languages.front();
  }
  return answer.dump() + "\n";
}

std::string ServerHandler::detect(const ApiRequest& request, const std::atomic<bool>&,
                                  Timings&) const {
  const std::vector<std::string> codes = language_codes();
  if (codes.empty()) {
    throw InputError(
        "the request: no language can be detected, because no model names its languages; a model's "
        "name does if it ends like en-de");
  }
  return detected_json(detect_language(request.text, codes)).dump() + "\n";
}

std::string ServerHandler::languages() const {
  return languages_json(models().names(), models().model(0).tokenizer->languages()).dump() + "\n";
}

std::vector<std::string> ServerHandler::language_codes() const {
  std::vector<std::string> codes;
  const Json all = languages_json(models().names(), models().model(0).tokenizer->languages());
  for (const Json& language : all) codes.push_back(language["code"].get<std::string>());
  return codes;
}

std::string ServerHandler::live_page(const std::string& version) const {
  const std::vector<std::string> records = first_records();
  const std::string live = live_settings(version);
  return page_html({.records = records, .live = live});
}

namespace {

std::vector<LanguagePair> pairs_of(const std::vector<std::string>& names) {
  std::vector<LanguagePair> pairs;
  for (const std::string& name : names) {
    if (const auto pair = languages_in_name(name)) pairs.push_back(*pair);
  }
  return pairs;
}

/// Returns the models to serve by name; empty is the one that the options choose without a name.
std::vector<std::string> served_names(const ModelChoice& choice) {
  if (!choice.models.empty()) return choice.models;
  const bool other = choice.asks_for_another() || !choice.config.empty() || !choice.preset.empty();
  std::vector<std::string> names = other ? std::vector<std::string>() : shipped_models();
  return names.empty() ? std::vector<std::string>{""} : names;
}

}  // namespace

std::size_t find_model_for(const std::vector<std::string>& names, const LanguagePair& wanted,
                           const std::string& detected) {
  const auto find_source = [&](const std::string& source) {
    return std::ranges::find_if(names, [&](const std::string& name) {
      const auto pair = languages_in_name(name);
      return pair && pair->target == wanted.target && (source == "auto" || pair->source == source);
    });
  };
  auto found = names.end();
  if (wanted.source == "auto" && !detected.empty()) found = find_source(detected);
  if (found == names.end()) found = find_source(wanted.source);
  if (found == names.end()) {
    found = std::ranges::find_if(names, [](const auto& name) { return !languages_in_name(name); });
  }
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> served;
  for (const LanguagePair& pair : pairs_of(names)) {
    add_once(served, fmt::format("{} to {}", pair.source, pair.target));
  }
  throw InputError("the request: no model translates {} to {}; served: {}", excerpt(wanted.source),
                   excerpt(wanted.target), fmt::join(served, ", "));
}

Json languages_json(const std::vector<std::string>& names, const Languages& of_first) {
  const std::vector<LanguagePair> pairs = pairs_of(names);
  std::vector<std::string> codes;
  for (const LanguagePair& pair : pairs) add_once(codes, pair.source);
  for (const LanguagePair& pair : pairs) add_once(codes, pair.target);
  Json languages = Json::array();
  for (const std::string& code : codes) {
    std::vector<std::string> targets;
    for (const LanguagePair& pair : pairs) {
      if (pair.source == code) add_once(targets, pair.target);
    }
    languages.push_back({{"code", code}, {"name", language_name(code)}, {"targets", targets}});
  }
  const bool both_sides =
      of_first.target_language_method == TargetLanguageMethod::forced_bos_token ||
      of_first.target_language_method == TargetLanguageMethod::decoder_start;
  if (languages_in_name(names.front()) || !both_sides) return languages;
  std::vector<std::string> all;
  for (const LanguageToken& token : of_first.tokens) all.push_back(token.code);
  const std::vector<std::string> its_names = language_names(of_first);
  for (std::size_t i = 0; i < all.size(); ++i) {
    languages.push_back({{"code", all[i]}, {"name", its_names[i]}, {"targets", all}});
  }
  return languages;
}

ServedModels::ServedModels(const ModelChoice& choice, NoteHandler say) : say_(std::move(say)) {
  names_ = served_names(choice);
  for (const std::string& directory : names_) {
    if (std::ranges::count(names_, directory) > 1) {
      refuse_field(Field{"model"}, " " + printable(directory), " is named twice");
    }
    ModelChoice own = choice;
    if (!directory.empty()) own.models = {directory};
    slots_.emplace_back(std::move(own));
  }
  names_.front() = ensure_loaded(slots_.front()).model->name;
}

ServedModels::Slot& ServedModels::ensure_loaded(Slot& slot) {
  const std::lock_guard lock(slot.loading);
  if (!slot.model) {
    slot.model = open_or_make_model(slot.choice);
    find_alignment_heads(*slot.model);
    slot.queue.emplace(*slot.model->transformer);
    for (const FieldText& text : slot.model->notes) say_(text);
  }
  return slot;
}

ServedModels::Slot& ServedModels::load_for_client(std::size_t number) {
  try {
    return ensure_loaded(at(slots_, to_index(number)));
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    say_(FieldText(error.what()));
    throw SystemError("the model {} cannot be loaded; the server's own messages say why",
                      excerpt(names_[number]));
  }
}

BatchHistogram ServedModels::batch_sizes() {
  BatchHistogram all;
  for (Slot& slot : slots_) {
    const std::lock_guard lock(slot.loading);
    if (slot.queue) all += slot.queue->sizes();
  }
  return all;
}

}  // namespace attn
