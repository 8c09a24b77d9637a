#include "model.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "compute/matmul.h"
#include "config/model_config.h"
#include "interpreter.h"
#include "observer.h"
#include "options.h"
#include "service/html_pages.h"
#include "service/model/languages.h"
#include "service/model/model_choice.h"
#include "service/training/untrained_model.h"
#include "service/translate_texts.h"
#include "service/what_if.h"

namespace py = pybind11;

namespace attn {
namespace {

/// The observers' pairs of functions for heads and stages, called in order.
class ObserverChain {
 public:
  explicit ObserverChain(const py::list& pairs) {
    for (const py::handle pair : pairs) {
      const auto functions = py::reinterpret_borrow<py::tuple>(pair);
      PythonObserver& own = observers_.emplace_back(functions[0], functions[1]);
      first_ = first_ == nullptr ? static_cast<AttentionObserver*>(&own)
                                 : &pairs_.emplace_back(first_, own);
    }
  }
  AttentionObserver* first() const { return first_; }

 private:
  std::deque<PythonObserver> observers_;
  std::deque<ObserverPair> pairs_;
  AttentionObserver* first_ = nullptr;
};

/// Lets Ctrl-C end a long call between two batches.
void check_signals() {
  const GilAcquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

SentenceNotes::NoteHandler append_to(std::vector<std::string>& notes) {
  return [&notes](const FieldText& text) {
    notes.emplace_back(printable(text.message_for(option_name)));
  };
}

}  // namespace

Model::Model(const py::dict& options) {
  const ModelChoice choice = model_choice(options);
  const std::vector<std::string> names = string_list(options, "names");
  const GilRelease released;
  kernels();  // reject invalid environment variables before reading anything
  default_backend();
  choice.check_one_source();
  models_ = open_or_make_models(choice);
  for (std::size_t i = 0; i < names.size() && i < models_.models.size(); ++i) {
    models_.models[i].name = names[i];
  }
  queue_ = std::make_unique<SearchQueue>(ensemble_of(models_));
}

std::pair<Model::Translations, std::vector<std::string>> Model::translate(
    const std::vector<std::string>& lines, const py::dict& options,
    const py::list& observers) const {
  const SearchOptions search = search_options(options);
  const ObserverChain chain(observers);
  std::vector<std::string> notes;
  const GilRelease released;
  use_threads(search.threads);
  TranslationSettings settings = translation_settings(models_.first(), search);
  settings.observer = chain.first();
  settings.searcher = queue_.get();
  const Translator translator = make_translator(models_);
  note_missing_language(translator, settings, append_to(notes));
  settings.term_note = once_each(append_to(notes));
  SentenceNotes read(append_to(notes));
  read.suggest_split();
  TextHooks hooks;
  hooks.prepared = [&](std::size_t, const PreparedLine& line) {
    if (read.lines() % search.batch == 0) check_signals();
    read.add(line, translator.max_source_tokens());
  };
  hooks.searched = [](const TranslationProgress&) { check_signals(); };
  Translations done;
  MarkupCounts markup;
  for (TranslatedText& text :
       translate_texts(translator, settings, lines,
                       text_settings(search, {splitting_of(search), search.batch}), hooks)) {
    done.push_back(std::move(text.translations));
    markup += text.markup;
  }
  read.report();
  if (const std::string note = markup_note(markup); !note.empty()) append_to(notes)(note);
  return {std::move(done), std::move(notes)};
}

std::pair<std::vector<SharedRecord>, std::vector<std::string>> Model::attend(
    const std::string& sentence, const py::dict& options, const py::list& observers) const {
  const SearchOptions search = search_options(options);
  const WhatIfOptions what_if = what_if_words(options);
  const std::optional<std::string> target = optional_text(options, "target");
  const ObserverChain chain(observers);
  std::vector<std::string> notes;
  const GilRelease released;
  if (models_.models.size() > 1 && (target || what_if.given())) {
    throw UsageError("several models cannot be combined with {}; give one of them",
                     target ? "target" : "without, force and swap");
  }
  use_threads(search.threads);
  TranslationSettings settings = translation_settings(models_.first(), search);
  settings.observer = chain.first();
  const Translator translator = make_translator(models_);
  note_missing_language(translator, settings, append_to(notes));
  settings.term_note = once_each(append_to(notes));
  SentenceNotes read(append_to(notes));
  const PreparedLine line = prepare_line(translator, settings, sentence, Splitting::never);
  read.add(line, translator.max_source_tokens());
  const PreparedSentence& whole = line.parts.front();
  const RecordDetail detail{true, settings.decode.num_beams > 1, 10};
  std::vector<AttentionRecord> records;
  if (what_if.given()) {
    const WhatIfRequest request = what_if_request(translator, settings, what_if, whole, target);
    if (!what_if.swap.empty()) {
      read.note_cleaning("swap", request.after.invalid_bytes, request.after.controls);
    }
    records = what_if_records(apply_what_if(translator, settings, request, detail));
  } else {
    records.push_back(record_sentence(translator, settings, whole, target, detail));
  }
  if (target) {
    read.add_target(*target, records.front().hypotheses.front().produced.ids,
                    models_.mapped().tokenizer->special_tokens().unk);
  }
  read.report();
  std::vector<SharedRecord> shared;
  for (AttentionRecord& record : records) {
    shared.push_back(std::make_shared<AttentionRecord>(std::move(record)));
  }
  return {std::move(shared), std::move(notes)};
}

std::pair<SharedWhy, std::vector<std::string>> Model::why(const std::string& sentence,
                                                          const py::dict& options) const {
  const SearchOptions search = search_options(options);
  const WhyQuestion question = why_question(options);
  std::vector<std::string> notes;
  const GilRelease released;
  if (models_.models.size() > 1) {
    throw UsageError(
        "why explains one model, and this one has {}: an ensemble's logits are not a sum of one "
        "model's parts",
        models_.models.size());
  }
  use_threads(search.threads);
  TranslationSettings settings = translation_settings(models_.first(), search);
  const Translator translator = make_translator(models_);
  note_missing_language(translator, settings, append_to(notes));
  settings.term_note = once_each(append_to(notes));
  SentenceNotes read(append_to(notes));
  const PreparedLine line = prepare_line(translator, settings, sentence, Splitting::never);
  read.add(line, translator.max_source_tokens());
  auto answer = std::make_shared<WhyAnswer>(
      answer_why({translator, *mapped().transformer, settings, append_to(notes), gradients_.get()},
                 line.parts.front(), question));
  if (question.target) {
    read.add_target(*question.target, answer->why.target.ids,
                    mapped().tokenizer->special_tokens().unk);
  }
  read.report();
  return {std::move(answer), std::move(notes)};
}

std::vector<std::string> Model::notes() const {
  std::vector<std::string> all;
  for (const ReadyModel& model : models_.models) {
    for (const FieldText& text : model.notes)
      all.push_back(printable(text.message_for(option_name)));
  }
  if (mapped().seed) all.push_back(fmt::format("random weights (seed {})", *mapped().seed));
  return all;
}

namespace {

std::string standalone_page_of(const py::dict& options, const std::string& dtype) {
  const ModelChoice choice = model_choice(options);
  const GilRelease released;
  return standalone_page(choice, parse_dtype(dtype), ATTN_VERSION);
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<LineTranslation>(module, "LineTranslation")
      .def_readonly("text", &LineTranslation::text)
      .def_readonly("score", &LineTranslation::score)
      .def_readonly("tokens", &LineTranslation::tokens);
  py::class_<Model>(module, "Model")
      .def(py::init<const py::dict&>(), py::arg("options"))
      .def("translate", &Model::translate, py::arg("lines"), py::arg("options"),
           py::arg("observers"))
      .def("attend", &Model::attend, py::arg("sentence"), py::arg("options"), py::arg("observers"))
      .def("why", &Model::why, py::arg("sentence"), py::arg("options"))
      .def_property_readonly("names",
                             [](const Model& m) {
                               std::vector<py::bytes> names;
                               for (const std::string& name : m.names()) names.emplace_back(name);
                               return names;
                             })
      .def_property_readonly("notes", &Model::notes)
      .def_property_readonly(
          "directory",
          [](const Model& m) {
            return py::bytes(m.mapped().seed ? "" : m.mapped().tokenizer_directory);
          })
      .def_property_readonly("sizes", [](const Model& m) {
        const Json config = to_config_json(m.mapped().transformer->config());
        std::map<std::string, Index> sizes;
        for (const char* key :
             {"d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
              "decoder_attention_heads", "vocab_size", "decoder_vocab_size"}) {
          sizes[key] = config.at(key).get<Index>();
        }
        return sizes;
      });
  module.def("alone_page", &standalone_page_of, py::arg("options"), py::arg("dtype"));
}

}  // namespace attn
