#include "serve/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/annotate.h"
#include "base/add_time.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/excerpt.h"
#include "config/experiment.h"
#include "record/json/record_json.h"
#include "serve/answer_size.h"
#include "service/translate_lines.h"
#include "service/what_if.h"
#include "translate/alternatives.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

/// What is to be said of a sentence.
void add_notes(std::vector<std::string>& notes, const PreparedSentence& sentence,
               std::size_t positions) {
  if (sentence.cut_tokens > 0) {
    notes.push_back(fmt::format(
        "the sentence is longer than the model's {} positions: its end was left out", positions));
  }
  if (sentence.unknown > 0) {
    notes.push_back(fmt::format("the model does not know {}{}", excerpt(sentence.first_unknown),
                                sentence.unknown > 1 ? " and more" : ""));
  }
  if (sentence.invalid_bytes + sentence.controls > 0) {
    notes.push_back("control characters were replaced");
  }
}

RecordDetail detail_of(const Question& question, const Translator& translator) {
  const bool searched = !question.target && translator.decode_config().num_beams > 1;
  return {question.vectors, question.tree && searched, recorded_alternatives};
}

PreparedSentence prepared(const Translator& translator, const std::string& text, Timings& timings,
                          std::vector<std::string>& notes) {
  const AddTime timed(&timings, &Timings::segmentation);
  PreparedSentence sentence = translator.prepare(text);
  add_notes(notes, sentence, translator.most_source_tokens());
  return sentence;
}

AttentionRecord record_of(const Translator& translator, const PreparedSentence& sentence,
                          const Question& question) {
  return record_sentence(translator, sentence, question.target, detail_of(question, translator));
}

WhatIfRecord experiment(const Translator& translator, const PreparedSentence& sentence,
                        const Question& question) {
  return run_experiment(
      translator, question.what_if,
      experiment_sentences(translator, question.what_if, sentence, question.target),
      detail_of(question, translator));
}

std::vector<std::string> texts_of(const Question& question) {
  return question.texts.value_or(std::vector<std::string>{question.text});
}

/// Puts the figures of every head into a record.
void add_figures(AttentionRecord& record) {
  annotate(record, {true, AlignmentOptions{}});
}

}  // namespace

std::unique_ptr<Translator> Answers::translator_of(const Question& question,
                                                   const std::atomic<bool>& stop,
                                                   Timings& timings) const {
  const std::vector<std::string>& names = models_.names();
  const auto named =
      question.model.empty() ? names.begin() : std::ranges::find(names, question.model);
  if (named == names.end()) {
    throw InputError("the request: no model {} is served; the nearest is {}",
                     excerpt(question.model), excerpt(nearest(question.model, names)));
  }
  auto translator =
      models_.translator(static_cast<std::size_t>(named - names.begin()), question.decode);
  translator->stop_when(stop);
  translator->time_into(timings.model);
  return translator;
}

std::vector<Answers::Translated> Answers::translate_all(const Translator& translator,
                                                        const std::vector<std::string>& texts,
                                                        Timings& timings) const {
  std::vector<Translated> all;
  std::optional<AddTime> timed(std::in_place, &timings, &Timings::segmentation);
  const auto told = [&](const PreparedLine& line) {
    all.emplace_back();
    for (const PreparedSentence& part : line.parts) {
      check_search_size(translator, part);
      add_notes(all.back().notes, part, translator.most_source_tokens());
    }
    if (all.size() == texts.size()) timed.reset();
  };
  // A sentence at a time, so that a long text takes no more memory than its longest one.
  const LineSettings settings{.batch = 1};
  auto found = translate_lines(translator, texts, settings, {told});
  for (std::size_t i = 0; i < all.size(); ++i) all[i].found = std::move(found[i]);
  return all;
}

std::string Answers::translate(const Question& question, const std::atomic<bool>& stop,
                               Timings& timings) const {
  const std::unique_ptr<Translator> translator = translator_of(question, stop, timings);
  const std::vector<Translated> all = translate_all(*translator, texts_of(question), timings);
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
    if (question.texts) {
      json.array(all, one);
    } else {
      one(all.front());
    }
  });
}

std::string Answers::libre(const Question& asked, const std::atomic<bool>& stop,
                           Timings& timings) const {
  Question question = asked;
  const std::size_t model = model_for(models_.names(), *question.languages);
  question.model = models_.names()[model];
  const Languages& known = models_.languages(model);
  if (!known.tokens.empty()) {
    const std::string& source = question.languages->source;
    const bool told = known.target_by != TargetBy::source_mark && source != "auto";
    question.decode.source_lang = told ? source : "";
    question.decode.target_lang = question.languages->target;
  }
  const std::unique_ptr<Translator> translator = translator_of(question, stop, timings);
  const std::vector<std::string> texts = texts_of(question);
  Json best = Json::array(), others = Json::array();
  for (const Translated& text : translate_all(*translator, texts, timings)) {
    best.push_back(text.found.front().text);
    others.push_back(Json::array());
    for (std::size_t i = 1; i < text.found.size(); ++i) {
      others.back().push_back(text.found[i].text);
    }
  }
  Json answer = Json::object();
  answer["translatedText"] = question.texts ? best : best.front();
  if (question.decode.num_return_sequences) {
    answer["alternatives"] = question.texts ? others : others.front();
  }
  return answer.dump() + "\n";
}

std::string Answers::languages() const {
  return languages_json(models_.names(), models_.languages(0)).dump() + "\n";
}

std::string Answers::attend(const Question& question, const std::atomic<bool>& stop,
                            Timings& timings) const {
  const std::unique_ptr<Translator> translator = translator_of(question, stop, timings);
  std::vector<std::string> notes;
  const PreparedSentence sentence = prepared(*translator, question.text, timings, notes);
  check_record_size(question, *translator, sentence);
  if (question.what_if.given()) {
    WhatIfRecord record = experiment(*translator, sentence, question);
    const AddTime timed(&timings, &Timings::record);
    if (question.report) {
      add_figures(record.before);
      add_figures(record.after);
    }
    return what_if_json(record);
  }
  AttentionRecord record = record_of(*translator, sentence, question);
  const AddTime timed(&timings, &Timings::record);
  if (question.report) add_figures(record);
  return to_json_line(record);
}

Answers::PageRecords Answers::page_records(const Question& asked, const std::atomic<bool>& stop,
                                           Timings& timings) const {
  const std::unique_ptr<Translator> translator = translator_of(asked, stop, timings);
  PageRecords page;
  std::vector<AttentionRecord> records;
  const PreparedSentence sentence = prepared(*translator, asked.text, timings, page.notes);
  const Question question = fitting_page(asked, *translator, sentence);
  if (question.what_if.given()) {
    records = what_if_records(experiment(*translator, sentence, question));
  } else {
    records.push_back(record_of(*translator, sentence, question));
  }
  if (question.compare) {
    const PreparedSentence other = prepared(*translator, *question.compare, timings, page.notes);
    check_record_size(question, *translator, other);
    records.push_back(record_of(*translator, other, question));
    records.back().changes = {"another sentence"};
  }
  const AddTime timed(&timings, &Timings::record);
  for (AttentionRecord& record : records) {
    if (question.report) add_figures(record);
    page.records.push_back(
        page_record(record, {.vectors = question.vectors, .search = question.tree}));
  }
  return page;
}

std::string Answers::page(const Question& question, const std::atomic<bool>& stop,
                          Timings& timings) const {
  const PageRecords page = page_records(question, stop, timings);
  const std::string live =
      json_line([&](JsonWriter& json) { json.object([&] { json.member("notes", page.notes); }); });
  return page_data({.records = page.records, .live = live});
}

std::string Answers::file(const Question& question, const std::atomic<bool>& stop,
                          Timings& timings) const {
  const PageRecords page = page_records(question, stop, timings);
  return page_html({.records = page.records});
}

std::string Answers::live_page(const Question& question, const std::string& version) const {
  const std::atomic<bool> never{false};
  Timings timings;
  const PageRecords page = page_records(question, never, timings);
  const std::unique_ptr<Translator> translator = translator_of(question, never, timings);
  const std::string live = json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("version", version);
      json.member("models", models_.names());
      json.member("beams", translator->decode_config().num_beams);
      json.member("most_beams", most_beams);
      json.member("most_text", most_text_bytes);
    });
  });
  return page_html({.records = page.records, .live = live});
}

}  // namespace attn
