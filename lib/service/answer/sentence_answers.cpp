#include "service/answer/sentence_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/annotate.h"
#include "base/add_time.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "config/experiment.h"
#include "record/json/record_json.h"
#include "service/answer/answer_size.h"
#include "service/model/languages.h"
#include "service/search_settings.h"
#include "service/sentence_notes.h"
#include "service/what_if.h"
#include "translate/alternatives.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

void check_n_best(const SearchOptions& given, int beams) {
  const int wanted = given.n_best.value_or(1);
  if (wanted <= beams) return;
  throw UsageError("n_best {} is more than the {} beam{} of the search; ask for more beams", wanted,
                   beams, beams == 1 ? "" : "s");
}

std::unique_ptr<Translator> answering_translator(const ReadyModel& ready,
                                                 const SearchOptions& given) {
  const int beams = given.beam.value_or(ready.decode.num_beams.value_or(1));
  if (!given.sample) check_n_best(given, beams);
  // A model may give several by itself; a page of few beams must not ask it for more than those.
  SearchOptions wanted = given;
  if (!wanted.n_best) {
    wanted.n_best = std::min(beams, ready.decode.num_return_sequences.value_or(1));
  }
  return make_translator(ready, wanted);
}

/// What a live page shows before anybody types.
Question first_question() {
  Question question;
  question.text = "The group went home";
  question.report = question.vectors = question.tree = true;
  return question;
}

/// Whether there is a search of several beams to show.
bool has_tree(const Question& question, const Translator& translator) {
  const DecodeConfig& decode = translator.decode_config();
  return !question.target && decode.num_beams > 1 && !decode.sampling;
}

/// A page shows what there is; who asks for JSON is told that there is none.
void check_tree(const Question& question, const Translator& translator) {
  if (!question.tree || (has_tree(question, translator) && !question.what_if.given())) return;
  throw InputError(
      "the request: tree shows a search with several beams; leave it out beside sample, target, "
      "without, force and swap, and ask for 2 beams or more");
}

RecordDetail detail_of(const Question& question, const Translator& translator) {
  return {question.vectors, question.tree && has_tree(question, translator), recorded_alternatives};
}

PreparedLine line_of(const Translator& translator, const std::string& text, Splitting splitting,
                     Timings& timings) {
  const AddTime timed(&timings, &Timings::segmentation);
  return prepare_line(translator, text, splitting);
}

/// What is recorded of a text: the whole as one piece, all the parts that translations cut it into,
/// or one of them.
struct Pieces {
  std::vector<PreparedSentence> sentences;     ///< at least one
  std::vector<std::optional<LinePart>> parts;  ///< what each of them is
  std::optional<std::string> note;             ///< whole, though translations cut it
};

Pieces one_part(const PreparedLine& line, int number) {
  const std::size_t part = to_size(number - 1);
  if (part < line.parts.size()) return {{line.parts[part]}, {line_part(line, part)}, {}};
  throw InputError("the request: body.part is {}, and translations take this text in {} part{}",
                   number, line.parts.size(), line.parts.size() == 1 ? "" : "s");
}

Pieces all_of(const PreparedLine& line) {
  Pieces pieces{line.parts, {}, {}};
  for (std::size_t i = 0; i < line.parts.size(); ++i) pieces.parts.push_back(line_part(line, i));
  return pieces;
}

Pieces as_one(const Translator& translator, const PreparedLine& line, const std::string& text) {
  if (line.parts.size() == 1) return all_of(line);
  return {{translator.prepare(text)}, {std::nullopt}, note_of_whole(line)};
}

/// The number of the part that byte `caret` of the text is in.
int part_at(const PreparedLine& line, std::size_t caret) {
  const std::size_t first = line.text.find(line.parts.front().text);
  std::size_t end = first == line.text.npos ? 0 : first;
  for (std::size_t i = 0; i < line.parts.size(); ++i) {
    end += line.gaps[i].size() + line.parts[i].text.size();
    if (caret <= end) return to_int(i + 1);
  }
  return to_int(line.parts.size());
}

/// "parts": the whole text, of each part the blanks before it, its source and its translation.
void write_parts(JsonWriter& json, const Translator& translator, const PreparedLine& line) {
  constexpr std::size_t kAtOnce = 32;
  const auto found = translator.translate(line.parts, kAtOnce);
  json.key("parts");
  json.counted(to_int(line.parts.size()), [&](int part) {
    const std::size_t i = to_size(part);
    json.object([&] {
      json.member("gap", line.gaps[i]);
      json.member("source", line.parts[i].text);
      json.member("text", clean_text(found[i].front().text).text);
    });
  });
}

void add_notes(std::vector<std::string>& notes, const Pieces& pieces,
               const Translator& translator) {
  for (const PreparedSentence& each : pieces.sentences) add_notes(notes, each, translator);
  if (pieces.note) notes.push_back(*pieces.note);
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

/// "choices": which languages a model knows, and which of them count where none is asked for;
/// prefixes that its files name. Nothing of a model that has neither.
void write_choices(JsonWriter& json, const ReadyModel& model) {
  const Languages& known = model.tokenizer->languages();
  const auto code_of = [&](int id) {
    const auto found = std::ranges::find(known.tokens, id, &LanguageToken::id);
    return found == known.tokens.end() ? std::string() : found->code;
  };
  json.member("choices", [&] {
    json.object([&] {
      if (!known.tokens.empty()) {
        const std::vector<std::string> names = language_names(known);
        json.key("languages");
        json.counted(to_int(names.size()), [&](int i) {
          json.value(std::vector{known.tokens[to_size(i)].code, names[to_size(i)]});
        });
        const bool sources = known.target_by != TargetBy::source_mark;
        if (sources) json.member("source", code_of(known.source));
        json.member("target", code_of(make_translator(model, SearchOptions())->languages().target));
      }
      const std::vector<std::string> prefixes = task_prefixes(model.decode);
      if (!prefixes.empty()) json.member("prefixes", prefixes);
    });
  });
}

/// Puts the figures of every head into a record.
void add_figures(AttentionRecord& record) {
  annotate(record, {true, AlignmentOptions{}});
}

/// A record of each piece; an experiment has two, of the one piece that it is made with.
std::vector<AttentionRecord> records_of(const Translator& translator, const Pieces& pieces,
                                        const Question& question) {
  std::vector<AttentionRecord> records;
  if (question.what_if.given()) {
    records = what_if_records(experiment(translator, pieces.sentences.front(), question));
    for (AttentionRecord& record : records) record.part = pieces.parts.front();
  } else {
    for (std::size_t i = 0; i < pieces.sentences.size(); ++i) {
      records.push_back(record_of(translator, pieces.sentences[i], question));
      records.back().part = pieces.parts[i];
    }
  }
  return records;
}

}  // namespace

void add_notes(std::vector<std::string>& notes, const PreparedSentence& sentence,
               const Translator& translator) {
  const auto say = [&notes](const std::string& note) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  };
  note_language(translator, [&](const FieldText& text) { say(text.plain()); });
  if (sentence.cut_tokens > 0) {
    say(fmt::format("the sentence is longer than the model's {} positions: its end was left out",
                    translator.most_source_tokens()));
  }
  if (sentence.unknown > 0) {
    say(fmt::format("the model does not know {}{}", excerpt(sentence.first_unknown),
                    sentence.unknown > 1 ? " and more" : ""));
  }
  if (sentence.invalid_bytes + sentence.controls > 0) {
    say("control characters were replaced");
  }
}

std::size_t SentenceAnswers::number_of(const Question& question) const {
  const std::vector<std::string>& names = models_.names();
  const auto named =
      question.model.empty() ? names.begin() : std::ranges::find(names, question.model);
  if (named == names.end()) {
    throw InputError("the request: no model {} is served; the nearest is {}",
                     excerpt(question.model), excerpt(nearest(question.model, names)));
  }
  return static_cast<std::size_t>(named - names.begin());
}

std::unique_ptr<Translator> SentenceAnswers::translator_of(const Question& question,
                                                           const std::atomic<bool>& stop,
                                                           Timings& timings) const {
  const std::size_t number = number_of(question);
  auto translator = answering_translator(models_.model(number), question.search);
  if (SearchQueue* queue = models_.queue(number)) translator->share(*queue, question.client);
  translator->stop_when(stop);
  translator->time_into(timings.model);
  return translator;
}

struct SentenceAnswers::Asked {
  const Question& question;
  std::unique_ptr<Translator> translator;
  PreparedLine line;  ///< the text, cut as asked_of() was told
  Timings& timings;
};

struct SentenceAnswers::PageRecords {
  std::vector<std::string> records;
  std::vector<std::string> notes;

  PageRecords(const Asked& asked, const Pieces& pieces) {
    const Translator& translator = *asked.translator;
    add_notes(notes, pieces, translator);
    const Question question = fitting_page(asked.question, translator, pieces.sentences);
    std::vector<AttentionRecord> found = records_of(translator, pieces, question);
    if (question.compare) {
      const Pieces other = as_one(
          translator, line_of(translator, *question.compare, Splitting::automatic, asked.timings),
          *question.compare);
      add_notes(notes, other, translator);
      check_record_size(question, translator, other.sentences);
      found.push_back(record_of(translator, other.sentences.front(), question));
      found.back().changes = {"another sentence"};
    }
    const AddTime timed(&asked.timings, &Timings::record);
    for (AttentionRecord& record : found) {
      if (question.report) add_figures(record);
      records.push_back(
          page_record(record, {.vectors = question.vectors, .search = question.tree}));
    }
  }
};

SentenceAnswers::Asked SentenceAnswers::asked_of(const Question& question, Splitting splitting,
                                                 const std::atomic<bool>& stop,
                                                 Timings& timings) const {
  auto translator = translator_of(question, stop, timings);
  PreparedLine line = line_of(*translator, question.text, splitting, timings);
  return {question, std::move(translator), std::move(line), timings};
}

std::string SentenceAnswers::attend(const Question& question, const std::atomic<bool>& stop,
                                    Timings& timings) const {
  // A record has no notes: nothing but `part` asks how translations would cut the text.
  const Splitting splitting = question.part ? Splitting::automatic : Splitting::never;
  const Asked asked = asked_of(question, splitting, stop, timings);
  const Translator& translator = *asked.translator;
  check_tree(question, translator);
  const Pieces pieces = one_part(asked.line, question.part.value_or(1));
  const PreparedSentence& sentence = pieces.sentences.front();
  check_record_size(question, translator, pieces.sentences);
  if (question.what_if.given()) {
    WhatIfRecord record = experiment(translator, sentence, question);
    record.before.part = record.after.part = pieces.parts.front();
    const AddTime timed(&timings, &Timings::record);
    if (question.report) {
      add_figures(record.before);
      add_figures(record.after);
    }
    return what_if_json(record);
  }
  AttentionRecord record = record_of(translator, sentence, question);
  record.part = pieces.parts.front();
  const AddTime timed(&timings, &Timings::record);
  if (question.report) add_figures(record);
  return to_json_line(record);
}

std::string SentenceAnswers::page(const Question& question, const std::atomic<bool>& stop,
                                  Timings& timings) const {
  const Asked asked = asked_of(question, Splitting::automatic, stop, timings);
  const int part = question.part.value_or(part_at(asked.line, question.caret));
  const PageRecords page(asked, one_part(asked.line, part));
  const std::string live = json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("notes", page.notes);
      if (question.whole && asked.line.parts.size() > 1) {
        write_parts(json, *asked.translator, asked.line);
      }
      if (question.choices) write_choices(json, model_of(question));
    });
  });
  return page_data({.records = page.records, .live = live});
}

std::string SentenceAnswers::file(const Question& question, const std::atomic<bool>& stop,
                                  Timings& timings) const {
  const Asked asked = asked_of(question, Splitting::automatic, stop, timings);
  const bool alone = question.target || question.compare || question.what_if.given();
  const PageRecords page(asked, question.part ? one_part(asked.line, *question.part)
                                : alone       ? as_one(*asked.translator, asked.line, question.text)
                                              : all_of(asked.line));
  return page_html({.records = page.records});
}

std::vector<std::string> SentenceAnswers::first_records() const {
  const std::atomic<bool> never{false};
  Timings timings;
  const Question question = first_question();
  const Asked asked = asked_of(question, Splitting::automatic, never, timings);
  return PageRecords(asked, all_of(asked.line)).records;
}

std::string SentenceAnswers::live_settings(const std::string& version) const {
  const std::atomic<bool> never{false};
  Timings timings;
  const std::unique_ptr<Translator> translator = translator_of(Question(), never, timings);
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("version", version);
      json.member("models", models_.names());
      json.member("beams", translator->decode_config().num_beams);
      json.member("most_beams", most_beams);
      json.member("most_text", most_text_bytes);
      write_choices(json, models_.model(0));
    });
  });
}

}  // namespace attn
