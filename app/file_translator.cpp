#include "file_translator.h"

#include <fmt/format.h>

#include <chrono>

#include "base/utf8.h"
#include "console.h"
#include "search_options.h"
#include "sentence_notes.h"
#include "translate/translate_all.h"

namespace attn {
namespace {

using Lines = std::vector<std::string>;

const char* name_of(EarlyStopping rule) {
  switch (rule) {
    case EarlyStopping::no:
      break;
    case EarlyStopping::yes:
      return "true";
    case EarlyStopping::never:
      return "never";
  }
  return "false";
}

}  // namespace

FileTranslator::FileTranslator(const ModelOptions& model, DecodeOptions decode, std::size_t batch)
    : batch_(batch), model_(load_or_make(model)) {
  decode.num_return_sequences = 1;  // whatever the model's own files say: the best is scored
  translator_ = make_translator(model_, decode);
  for (const std::string& text : model_.notes) note(printable(text));
  if (model_.seed) {
    note(fmt::format("random weights (seed {}): the scores are those of noise", *model_.seed));
  }
}

Lines FileTranslator::translate(const Lines& sources, TranslationRun& run) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<PreparedSentence> sentences;
  SentenceNotes notes;
  for (const std::string& line : sources) {
    sentences.push_back(translator_->prepare(line));
    notes.add(sentences.back(), 0, model_.transformer->config().max_positions);
  }
  const Lines translations = search(std::move(sentences), run);
  notes.report();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.model = model_.name;
  run.seed = model_.seed;
  const DecodeConfig& decode = translator_->decode_config();
  run.beams = decode.num_beams;
  run.length_penalty = decode.length_penalty;
  run.early_stopping = name_of(decode.early_stopping);
  if (decode.max_new_tokens > 0) run.max_length = decode.max_new_tokens;
  return translations;
}

Lines FileTranslator::search(std::vector<PreparedSentence> sentences, TranslationRun& run) {
  Lines translations;
  Progress progress("sentences", Progress::BesideStdout::yes);
  const auto found =
      translate_all(*translator_, std::move(sentences), batch_, [&](const TranslatedSoFar& done) {
        progress.update(done.sentences, done.fraction);
        return true;
      });
  for (const Translation& translation : *found) {
    translations.push_back(clean_text(translation.text).text);
    run.tokens += translation.ids.size();
  }
  return translations;
}

}  // namespace attn
