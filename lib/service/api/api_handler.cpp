#include "service/api/api_handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/alignment.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/scoped_timer.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "record/json/record_json.h"
#include "service/api/response_limits.h"
#include "service/api/text_lines.h"
#include "service/api/why_request.h"
#include "service/model/languages.h"
#include "service/search_settings.h"
#include "service/translate_lines.h"
#include "service/what_if.h"
#include "service/why/why.h"
#include "translate/recorder.h"
#include "view/page/page_html.h"

namespace attn {
namespace {

void check_n_best(const SearchOptions& given, int beams) {
  const int wanted = given.n_best.value_or(1);
  if (wanted <= beams) return;
  throw UsageError("n_best {} is more than the {} beam{} of the search; ask for more beams", wanted,
                   beams, beams == 1 ? "" : "s");
}

TranslationSettings request_settings(const ReadyModel& ready, const SearchOptions& given) {
  const int beams = given.beam.value_or(ready.decode.num_beams.value_or(1));
  if (!given.sample) check_n_best(given, beams);
  // A model's files may ask for more translations than the request has beams: limit their number.
  SearchOptions wanted = given;
  if (!wanted.n_best) {
    wanted.n_best = std::min(beams, ready.decode.num_return_sequences.value_or(1));
  }
  return translation_settings(ready, wanted);
}

/// Returns the request for what a live page shows first.
ApiRequest first_page_request() {
  ApiRequest request;
  request.text = "The group went home";
  request.report = request.vectors = request.tree = request.measures = true;
  return request;
}

/// True if there is a search with several beams to show.
bool has_tree(const ApiRequest& request, const DecodeConfig& decode) {
  return !request.target && decode.num_beams > 1 && !decode.sampling;
}

/// Throws InputError if a request for JSON wants a search tree and there is none. (A page shows
/// what there is.)
void check_tree(const ApiRequest& request, const DecodeConfig& decode) {
  if (!request.tree || (has_tree(request, decode) && !request.what_if.given())) return;
  throw InputError(
      "the request: tree shows a search with several beams; leave it out beside sample, target, "
      "without, force and swap, and ask for 2 beams or more");
}

RecordDetail detail_of(const ApiRequest& request, const DecodeConfig& decode) {
  return {request.vectors, request.tree && has_tree(request, decode), recorded_alternatives};
}

PreparedLine line_of(const Translator& translator, const TranslationSettings& settings,
                     const std::string& text, Splitting splitting, Timings& timings) {
  const ScopedTimer timed(&timings, &Timings::segmentation);
  return splitting == Splitting::never ? prepare_line(translator, settings, text, splitting)
                                       : prepare_text(translator, settings, text, splitting);
}

/// The sentences of a text to record: the whole text as one, all the parts that translations split
/// it into, or one of those parts.
struct TextParts {
  std::vector<PreparedSentence> sentences;     ///< at least one
  std::vector<std::optional<LinePart>> parts;  ///< position of each sentence in the text
  std::optional<std::string> note;  ///< set if translations split a text that is whole here
};

TextParts one_part(const PreparedLine& line, int number) {
  const std::size_t part = to_size(number - 1);
  if (part < line.parts.size()) return {{line.parts[part]}, {line_part(line, part)}, {}};
  throw InputError("the request: body.part is {}, but this text is translated in {} part{}", number,
                   line.parts.size(), line.parts.size() == 1 ? "" : "s");
}

TextParts all_of(const PreparedLine& line) {
  TextParts text_parts{line.parts, {}, {}};
  for (std::size_t i = 0; i < line.parts.size(); ++i)
    text_parts.parts.push_back(line_part(line, i));
  return text_parts;
}

TextParts as_one(const Translator& translator, const TranslationSettings& settings,
                 const PreparedLine& line, const std::string& text) {
  if (line.parts.size() == 1) return all_of(line);
  return {{translator.prepare(text, settings)}, {std::nullopt}, whole_line_note(line)};
}

/// Returns the number, from 1, of the part that contains byte `caret` of the text.
int part_at(const PreparedLine& line, std::size_t caret) {
  const std::size_t first = line.text.find(line.parts.front().text);
  std::size_t end = first == line.text.npos ? 0 : first - line.gaps.front().size();
  for (std::size_t i = 0; i < line.parts.size(); ++i) {
    end += line.gaps[i].size() + line.parts[i].text.size();
    if (caret <= end) return to_int(i + 1);
  }
  return to_int(line.parts.size());
}

/// Writes "parts": the spaces before each part of the text, its source and its translation.
void write_parts(JsonWriter& json, const Translator& translator,
                 const TranslationSettings& settings, const PreparedLine& line) {
  constexpr std::size_t kMaxActive = 32;
  const auto found = translator.translate({line.parts, settings, kMaxActive});
  json.key("parts");
  json.array_of(to_int(line.parts.size()), [&](int part) {
    const std::size_t i = to_size(part);
    json.object([&] {
      json.member("gap", line.gaps[i]);
      json.member("source", line.parts[i].text);
      json.member("text", clean_text(found[i].front().text).text);
    });
  });
}

void add_notes(std::vector<std::string>& notes, const TextParts& text_parts,
               const Translator& translator, const TranslationSettings& settings) {
  for (const PreparedSentence& each : text_parts.sentences) {
    add_notes(notes, each, translator, settings);
  }
  if (text_parts.note) notes.push_back(*text_parts.note);
}

AttentionRecord record_of(const Translator& translator, const TranslationSettings& settings,
                          const PreparedSentence& sentence, const ApiRequest& request) {
  return record_sentence(translator, settings, sentence, request.target,
                         detail_of(request, settings.decode));
}

WhatIfRecord what_if_record(const Translator& translator, const TranslationSettings& settings,
                            const PreparedSentence& sentence, const ApiRequest& request) {
  return apply_what_if(
      translator, settings,
      what_if_request(translator, settings, request.what_if, sentence, request.target),
      detail_of(request, settings.decode));
}

/// Writes "choices": a model's languages with its defaults, or the two languages in its name, and
/// the prefixes that its files name. It is empty for a model that has none of these.
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
        json.array_of(to_int(names.size()), [&](int i) {
          json.value(std::vector{known.tokens[to_size(i)].code, names[to_size(i)]});
        });
        const bool sources =
            known.target_language_method != TargetLanguageMethod::source_language_tag;
        if (sources) json.member("source", code_of(known.source));
        json.member("target", code_of(translation_settings(model, {}).languages.target));
      } else if (const auto pair = languages_in_name(model.name)) {
        json.member("pair", std::vector<std::vector<std::string>>{
                                {pair->source, language_name(pair->source)},
                                {pair->target, language_name(pair->target)}});
      }
      const std::vector<std::string> prefixes = task_prefixes(model.decode);
      if (!prefixes.empty()) json.member("prefixes", prefixes);
    });
  });
}

/// Adds the metrics of each head to a record.
void add_head_metrics(AttentionRecord& record) {
  annotate(record, {true, AlignmentOptions{}});
}

/// Returns a record of each sentence; an experiment has two records of its only sentence.
std::vector<AttentionRecord> records_of(const Translator& translator,
                                        const TranslationSettings& settings,
                                        const TextParts& text_parts, const ApiRequest& request) {
  std::vector<AttentionRecord> records;
  if (request.what_if.given()) {
    records = what_if_records(
        what_if_record(translator, settings, text_parts.sentences.front(), request));
    for (AttentionRecord& record : records) record.part = text_parts.parts.front();
  } else {
    for (std::size_t i = 0; i < text_parts.sentences.size(); ++i) {
      records.push_back(record_of(translator, settings, text_parts.sentences[i], request));
      records.back().part = text_parts.parts[i];
    }
  }
  return records;
}

}  // namespace

void add_notes(std::vector<std::string>& notes, const PreparedSentence& sentence,
               const Translator& translator, const TranslationSettings& settings) {
  const auto say = [&notes](const std::string& note) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  };
  note_missing_language(translator, settings, [&](const FieldText& text) { say(text.plain()); });
  if (sentence.truncated_tokens > 0) {
    say(fmt::format("the sentence is longer than the model's {} positions: its end was left out",
                    translator.max_source_tokens()));
  }
  if (sentence.unknown > 0) {
    say(fmt::format("the model does not know {}{}", excerpt(sentence.first_unknown_token),
                    sentence.unknown > 1 ? " and more" : ""));
  }
  if (sentence.invalid_bytes + sentence.controls > 0) {
    say("control characters were replaced");
  }
}

std::size_t ApiHandler::model_index(const ApiRequest& request) const {
  const std::vector<std::string>& names = models_.names();
  const auto named =
      request.model.empty() ? names.begin() : std::ranges::find(names, request.model);
  if (named == names.end()) {
    throw InputError("the request: no model {} is served; the nearest is {}",
                     excerpt(request.model), excerpt(nearest_word(request.model, names)));
  }
  return static_cast<std::size_t>(named - names.begin());
}

TranslationSettings ApiHandler::settings_of(const ApiRequest& request,
                                            const std::atomic<bool>& stop, Timings& timings) const {
  const std::size_t number = model_index(request);
  TranslationSettings settings = request_settings(models_.model(number), request.search);
  settings.searcher = models_.searcher(number);
  settings.client = request.client;
  settings.stop = &stop;
  settings.timings = &timings.model;
  return settings;
}

struct ApiHandler::PreparedRequest {
  const ApiRequest& request;
  const Transformer& model;
  TranslationSettings settings;
  Translator translator;
  PreparedLine line;  ///< the text, split as prepare_request() was asked to
  Timings& timings;
};

struct ApiHandler::PageRecords {
  std::vector<std::string> records;
  std::vector<std::string> notes;

  PageRecords(const PreparedRequest& prepared, const TextParts& text_parts) {
    const Translator& translator = prepared.translator;
    TranslationSettings settings = prepared.settings;
    settings.term_note =
        once_each([this](const FieldText& note) { notes.push_back(note.plain()); });
    add_notes(notes, text_parts, translator, settings);
    const ApiRequest request =
        fit_page(prepared.request, translator, settings.decode, text_parts.sentences);
    std::vector<AttentionRecord> found = records_of(translator, settings, text_parts, request);
    if (request.compare) {
      const PreparedLine line =
          line_of(translator, settings, *request.compare, Splitting::automatic, prepared.timings);
      const TextParts other = as_one(translator, settings, line, *request.compare);
      add_notes(notes, other, translator, settings);
      check_record_size(request, translator, settings.decode, other.sentences);
      found.push_back(record_of(translator, settings, other.sentences.front(), request));
      found.back().changes = {"another sentence"};
    }
    const ScopedTimer timed(&prepared.timings, &Timings::record);
    for (AttentionRecord& record : found) {
      if (request.report) add_head_metrics(record);
      // The receipts of an experiment would be those of the unchanged model. A page that follows
      // typing shows the last record and its first translation; the others come with the measures.
      const bool all = prepared.request.measures;
      if (record.changes.empty() && (all || &record == &found.back())) {
        add_receipts({translator, prepared.model, settings}, record,
                     {.maps = request.measures, .all = all});
      }
      records.push_back(page_record(record, {.vectors = request.vectors, .search = request.tree}));
    }
  }
};

ApiHandler::PreparedRequest ApiHandler::prepare_request(const ApiRequest& request,
                                                        Splitting splitting,
                                                        const std::atomic<bool>& stop,
                                                        Timings& timings) const {
  TranslationSettings settings = settings_of(request, stop, timings);
  const Translator translator = make_translator(model_of(request));
  PreparedLine line = line_of(translator, settings, request.text, splitting, timings);
  return {request, *model_of(request).transformer, std::move(settings), translator, std::move(line),
          timings};
}

std::string ApiHandler::attend(const ApiRequest& request, const std::atomic<bool>& stop,
                               Timings& timings) const {
  // A record has no notes, so only `part` needs to know how translations would split the text.
  const Splitting splitting = request.part ? Splitting::automatic : Splitting::never;
  const PreparedRequest prepared = prepare_request(request, splitting, stop, timings);
  const Translator& translator = prepared.translator;
  const TranslationSettings& settings = prepared.settings;
  check_tree(request, settings.decode);
  const TextParts text_parts = one_part(prepared.line, request.part.value_or(1));
  const PreparedSentence& sentence = text_parts.sentences.front();
  check_record_size(request, translator, settings.decode, text_parts.sentences);
  if (request.what_if.given()) {
    WhatIfRecord record = what_if_record(translator, settings, sentence, request);
    record.before.part = record.after.part = text_parts.parts.front();
    const ScopedTimer timed(&timings, &Timings::record);
    if (request.report) {
      add_head_metrics(record.before);
      add_head_metrics(record.after);
    }
    return what_if_json(record);
  }
  AttentionRecord record = record_of(translator, settings, sentence, request);
  record.part = text_parts.parts.front();
  const ScopedTimer timed(&timings, &Timings::record);
  if (request.report) add_head_metrics(record);
  return to_json_line(record);
}

std::string ApiHandler::why(const ApiRequest& request, const std::atomic<bool>& stop,
                            Timings& timings) const {
  const PreparedRequest prepared = prepare_request(request, Splitting::never, stop, timings);
  const WhyAnswer answer =
      answer_why_request(request, {prepared.translator, prepared.model, prepared.settings},
                         prepared.line.parts.front());
  const ScopedTimer timed(&timings, &Timings::record);
  return why_response(request, answer);
}

std::string ApiHandler::page(const ApiRequest& request, const std::atomic<bool>& stop,
                             Timings& timings) const {
  const PreparedRequest prepared = prepare_request(request, Splitting::automatic, stop, timings);
  const int part = request.part.value_or(part_at(prepared.line, request.caret));
  const PageRecords page(prepared, one_part(prepared.line, part));
  const std::string live = json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("notes", page.notes);
      if (request.whole && prepared.line.parts.size() > 1) {
        write_parts(json, prepared.translator, prepared.settings, prepared.line);
      }
      if (request.choices) write_choices(json, model_of(request));
    });
  });
  return page_data({.records = page.records, .live = live});
}

std::string ApiHandler::file(const ApiRequest& asked, const std::atomic<bool>& stop,
                             Timings& timings) const {
  ApiRequest request = asked;
  request.measures = true;
  const PreparedRequest prepared = prepare_request(request, Splitting::automatic, stop, timings);
  const bool alone = request.target || request.compare || request.what_if.given();
  const auto text_parts = [&] {
    if (request.part) return one_part(prepared.line, *request.part);
    if (!alone) return all_of(prepared.line);
    return as_one(prepared.translator, prepared.settings, prepared.line, request.text);
  };
  const PageRecords page(prepared, text_parts());
  return page_html({.records = page.records});
}

std::vector<std::string> ApiHandler::first_records() const {
  const std::atomic<bool> never{false};
  Timings timings;
  const ApiRequest request = first_page_request();
  const PreparedRequest prepared = prepare_request(request, Splitting::automatic, never, timings);
  return PageRecords(prepared, all_of(prepared.line)).records;
}

std::string ApiHandler::live_settings(const std::string& version) const {
  const std::atomic<bool> never{false};
  Timings timings;
  const TranslationSettings settings = settings_of(ApiRequest(), never, timings);
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("version", version);
      json.member("models", models_.names());
      json.member("beams", settings.decode.num_beams);
      json.member("most_beams", max_beams);
      json.member("most_text", max_text_bytes);
      write_choices(json, models_.model(0));
    });
  });
}

}  // namespace attn
