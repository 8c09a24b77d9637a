#include "service/api/api_handler.h"
#include "config/key_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/alignment.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/scoped_timer.h"
#include "base/strings/utf8.h"
#include "record/json/record_json.h"
#include "service/api/response_limits.h"
#include "service/model/languages.h"
#include "service/search_settings.h"
#include "service/translate_lines.h"
#include "service/what_if.h"
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
ApiRequest first_page_request() {
  ApiRequest request;
  request.text = "The group went home";
  request.report = request.vectors = request.tree = true;
  return request;
}

/// Whether there is a search of several beams to show.
bool has_tree(const ApiRequest& request, const Translator& translator) {
  const DecodeConfig& decode = translator.decode_config();
  return !request.target && decode.num_beams > 1 && !decode.sampling;
}

/// A page shows what there is; who asks for JSON is told that there is none.
void check_tree(const ApiRequest& request, const Translator& translator) {
  if (!request.tree || (has_tree(request, translator) && !request.what_if.given())) return;
  throw InputError(
      "the request: tree shows a search with several beams; leave it out beside sample, target, "
      "without, force and swap, and ask for 2 beams or more");
}

RecordDetail detail_of(const ApiRequest& request, const Translator& translator) {
  return {request.vectors, request.tree && has_tree(request, translator), recorded_alternatives};
}

PreparedLine line_of(const Translator& translator, const std::string& text, Splitting splitting,
                     Timings& timings) {
  const ScopedTimer timed(&timings, &Timings::segmentation);
  return prepare_line(translator, text, splitting);
}

/// What is recorded of a text: the whole as one piece, all the parts that translations cut it into,
/// or one of them.
struct TextParts {
  std::vector<PreparedSentence> sentences;     ///< at least one
  std::vector<std::optional<LinePart>> parts;  ///< what each of them is
  std::optional<std::string> note;             ///< whole, though translations cut it
};

TextParts one_part(const PreparedLine& line, int number) {
  const std::size_t part = to_size(number - 1);
  if (part < line.parts.size()) return {{line.parts[part]}, {line_part(line, part)}, {}};
  throw InputError("the request: body.part is {}, and translations take this text in {} part{}",
                   number, line.parts.size(), line.parts.size() == 1 ? "" : "s");
}

TextParts all_of(const PreparedLine& line) {
  TextParts text_parts{line.parts, {}, {}};
  for (std::size_t i = 0; i < line.parts.size(); ++i)
    text_parts.parts.push_back(line_part(line, i));
  return text_parts;
}

TextParts as_one(const Translator& translator, const PreparedLine& line, const std::string& text) {
  if (line.parts.size() == 1) return all_of(line);
  return {{translator.prepare(text)}, {std::nullopt}, whole_line_note(line)};
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
               const Translator& translator) {
  for (const PreparedSentence& each : text_parts.sentences) add_notes(notes, each, translator);
  if (text_parts.note) notes.push_back(*text_parts.note);
}

AttentionRecord record_of(const Translator& translator, const PreparedSentence& sentence,
                          const ApiRequest& request) {
  return record_sentence(translator, sentence, request.target, detail_of(request, translator));
}

WhatIfRecord what_if_record(const Translator& translator, const PreparedSentence& sentence,
                            const ApiRequest& request) {
  return apply_what_if(translator, request.what_if,
                       what_if_sentences(translator, request.what_if, sentence, request.target),
                       detail_of(request, translator));
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
        json.array_of(to_int(names.size()), [&](int i) {
          json.value(std::vector{known.tokens[to_size(i)].code, names[to_size(i)]});
        });
        const bool sources =
            known.target_language_method != TargetLanguageMethod::source_language_tag;
        if (sources) json.member("source", code_of(known.source));
        json.member("target", code_of(make_translator(model, SearchOptions())->languages().target));
      }
      const std::vector<std::string> prefixes = task_prefixes(model.decode);
      if (!prefixes.empty()) json.member("prefixes", prefixes);
    });
  });
}

/// Puts the figures of every head into a record.
void add_head_metrics(AttentionRecord& record) {
  annotate(record, {true, AlignmentOptions{}});
}

/// A record of each piece; an experiment has two, of the one piece that it is made with.
std::vector<AttentionRecord> records_of(const Translator& translator, const TextParts& text_parts,
                                        const ApiRequest& request) {
  std::vector<AttentionRecord> records;
  if (request.what_if.given()) {
    records = what_if_records(what_if_record(translator, text_parts.sentences.front(), request));
    for (AttentionRecord& record : records) record.part = text_parts.parts.front();
  } else {
    for (std::size_t i = 0; i < text_parts.sentences.size(); ++i) {
      records.push_back(record_of(translator, text_parts.sentences[i], request));
      records.back().part = text_parts.parts[i];
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
  note_missing_language(translator, [&](const FieldText& text) { say(text.plain()); });
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

std::unique_ptr<Translator> ApiHandler::translator_of(const ApiRequest& request,
                                                      const std::atomic<bool>& stop,
                                                      Timings& timings) const {
  const std::size_t number = model_index(request);
  auto translator = answering_translator(models_.model(number), request.search);
  if (SearchQueue* queue = models_.queue(number)) translator->share(*queue, request.client);
  translator->stop_when(stop);
  translator->time_into(timings.model);
  return translator;
}

struct ApiHandler::PreparedRequest {
  const ApiRequest& request;
  std::unique_ptr<Translator> translator;
  PreparedLine line;  ///< the text, cut as prepare_request() was told
  Timings& timings;
};

struct ApiHandler::PageRecords {
  std::vector<std::string> records;
  std::vector<std::string> notes;

  PageRecords(const PreparedRequest& prepared, const TextParts& text_parts) {
    const Translator& translator = *prepared.translator;
    add_notes(notes, text_parts, translator);
    const ApiRequest request = fit_page(prepared.request, translator, text_parts.sentences);
    std::vector<AttentionRecord> found = records_of(translator, text_parts, request);
    if (request.compare) {
      const TextParts other = as_one(
          translator, line_of(translator, *request.compare, Splitting::automatic, prepared.timings),
          *request.compare);
      add_notes(notes, other, translator);
      check_record_size(request, translator, other.sentences);
      found.push_back(record_of(translator, other.sentences.front(), request));
      found.back().changes = {"another sentence"};
    }
    const ScopedTimer timed(&prepared.timings, &Timings::record);
    for (AttentionRecord& record : found) {
      if (request.report) add_head_metrics(record);
      records.push_back(page_record(record, {.vectors = request.vectors, .search = request.tree}));
    }
  }
};

ApiHandler::PreparedRequest ApiHandler::prepare_request(const ApiRequest& request,
                                                        Splitting splitting,
                                                        const std::atomic<bool>& stop,
                                                        Timings& timings) const {
  auto translator = translator_of(request, stop, timings);
  PreparedLine line = line_of(*translator, request.text, splitting, timings);
  return {request, std::move(translator), std::move(line), timings};
}

std::string ApiHandler::attend(const ApiRequest& request, const std::atomic<bool>& stop,
                               Timings& timings) const {
  // A record has no notes: nothing but `part` asks how translations would cut the text.
  const Splitting splitting = request.part ? Splitting::automatic : Splitting::never;
  const PreparedRequest prepared = prepare_request(request, splitting, stop, timings);
  const Translator& translator = *prepared.translator;
  check_tree(request, translator);
  const TextParts text_parts = one_part(prepared.line, request.part.value_or(1));
  const PreparedSentence& sentence = text_parts.sentences.front();
  check_record_size(request, translator, text_parts.sentences);
  if (request.what_if.given()) {
    WhatIfRecord record = what_if_record(translator, sentence, request);
    record.before.part = record.after.part = text_parts.parts.front();
    const ScopedTimer timed(&timings, &Timings::record);
    if (request.report) {
      add_head_metrics(record.before);
      add_head_metrics(record.after);
    }
    return what_if_json(record);
  }
  AttentionRecord record = record_of(translator, sentence, request);
  record.part = text_parts.parts.front();
  const ScopedTimer timed(&timings, &Timings::record);
  if (request.report) add_head_metrics(record);
  return to_json_line(record);
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
        write_parts(json, *prepared.translator, prepared.line);
      }
      if (request.choices) write_choices(json, model_of(request));
    });
  });
  return page_data({.records = page.records, .live = live});
}

std::string ApiHandler::file(const ApiRequest& request, const std::atomic<bool>& stop,
                             Timings& timings) const {
  const PreparedRequest prepared = prepare_request(request, Splitting::automatic, stop, timings);
  const bool alone = request.target || request.compare || request.what_if.given();
  const PageRecords page(prepared, request.part ? one_part(prepared.line, *request.part)
                                   : alone
                                       ? as_one(*prepared.translator, prepared.line, request.text)
                                       : all_of(prepared.line));
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
  const std::unique_ptr<Translator> translator = translator_of(ApiRequest(), never, timings);
  return json_line([&](JsonWriter& json) {
    json.object([&] {
      json.member("version", version);
      json.member("models", models_.names());
      json.member("beams", translator->decode_config().num_beams);
      json.member("most_beams", max_beams);
      json.member("most_text", max_text_bytes);
      write_choices(json, models_.model(0));
    });
  });
}

}  // namespace attn
